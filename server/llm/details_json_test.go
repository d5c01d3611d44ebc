package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestModelsAndKeysAreWrittenAsTheirTypesSay(t *testing.T) {
	for _, v := range []any{
		&api.ModelInfo{Name: "a\"b", ContextLimit: 1, InputTokenCost: "0", OutputTokenCost: "1.50", Currency: new("$"), SupportsCacheControl: new(true)},
		&api.ModelInfo{InputTokenCost: "0", OutputTokenCost: "1e3", SupportsCacheControl: new(false)},
		&api.ConfigKey{Name: "K", Required: true, Secret: true, Default: new("d"), OauthFlow: true},
		&api.ConfigKey{},
	} {
		want, err := json.Marshal(v)
		if got := jsonwire.Marshal(v); err != nil || string(got) != string(want) {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
	want := `{"name":"","context_limit":0,"input_token_cost":null,"output_token_cost":null,"currency":null,"supports_cache_control":null}`
	if got := jsonwire.Marshal(&api.ModelInfo{}); string(got) != want {
		t.Errorf("without values: %s", got)
	}
}
