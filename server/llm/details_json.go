package llm

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func init() {
	jsonwire.Register(writeModel)
	jsonwire.Register(writeKey)
}

// writeModel writes what encoding/json would write of the type.
func writeModel(w *jsonwire.Writer, of *api.ModelInfo) {
	m := struct { // all fields, or the conversion does not compile
		Name                            string
		ContextLimit                    int64
		InputTokenCost, OutputTokenCost json.Number
		Currency                        *string
		SupportsCacheControl            *bool
	}(*of)
	w.Open('{')
	w.Name("name").String(m.Name)
	w.Name("context_limit").Int(m.ContextLimit)
	w.Name("input_token_cost").Raw(orNull(m.InputTokenCost))
	w.Name("output_token_cost").Raw(orNull(m.OutputTokenCost))
	w.Name("currency").StringOrNull(m.Currency)
	w.Name("supports_cache_control")
	if m.SupportsCacheControl == nil {
		w.Null()
	} else {
		w.Bool(*m.SupportsCacheControl)
	}
	w.Close('}')
}

func orNull(n json.Number) jsonwire.Text {
	if n == "" {
		n = "null"
	}
	return jsonwire.Text(n)
}

// writeKey writes what encoding/json would write of the type.
func writeKey(w *jsonwire.Writer, of *api.ConfigKey) {
	k := struct { // all fields, or the conversion does not compile
		Name             string
		Required, Secret bool
		Default          *string
		OauthFlow        bool
	}(*of)
	w.Open('{')
	w.Name("name").String(k.Name)
	w.Name("required").Bool(k.Required)
	w.Name("secret").Bool(k.Secret)
	w.Name("default").StringOrNull(k.Default)
	w.Name("oauth_flow").Bool(k.OauthFlow)
	w.Close('}')
}
