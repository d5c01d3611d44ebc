package extension

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestConfigured(t *testing.T) {
	const others = " +todo +chatrecall +Extension Manager +skills"
	for _, tc := range []struct{ name, setting, want string }{
		{"no setting", "", ""},
		{"no mapping", "[]", ""},
		{"an empty mapping", "{}", ""},
		{"in their order", `{"b":{"enabled":false,"type":"builtin","name":"B"},"a":{"enabled":true,"type":"builtin","name":"A"}}`, "-B +A" + others},
		{"unreadable entries", `{"a":{"enabled":1,"type":"builtin","name":"A"},"b":{"enabled":true,"type":"x"},"c":7,"d":{"type":"builtin","name":"D"}}`, others[1:]},
		{"those that are there", `{"todo":{"enabled":false,"type":"platform","name":"todo","description":""},"skills":null,"extensionmanager":0}`, "-todo +chatrecall"},
		{"other keys of them", `{"Todo":null}`, others[1:]},
	} {
		var got []string
		for _, e := range Configured(json.RawMessage(tc.setting)) {
			got = append(got, map[bool]string{true: "+", false: "-"}[e.Enabled]+e.Config.Name)
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	entries := Configured(json.RawMessage(`{"todo":null,"chatrecall":null,"skills":null}`))
	const want = `{"type":"platform","name":"Extension Manager","description":"Finds, enables and disables extensions.","bundled":true,"available_tools":[]}`
	if got := string(jsonwire.Of(entries[0].Config)); got != want || len(entries) != 1 {
		t.Error(fmt.Sprint(got, len(entries)))
	}
}
