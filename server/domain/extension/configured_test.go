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

// TestStored checks decisions G49 and G50. A + is a platform extension that was added.
func TestStored(t *testing.T) {
	const a, bad, others = `"a":{"enabled":false,"type":"builtin","name":"A","x":1.50}`, `"bad":7`, `,"todo":+,"chatrecall":+,"extensionmanager":+,"skills":+`
	const stored = `{"enabled":true,"type":"builtin","name":" N w","description":"","display_name":null,"timeout":null,"bundled":null,"available_tools":[]}`
	entry := Entry{true, Config{Type: "builtin", Name: " N w", AvailableTools: []string{}}}
	for _, tc := range []struct{ name, setting, stored, removed string }{
		{"no setting", "", `{"nw":` + stored + `}`, "{}"},
		{"no mapping", "[1]", `{"nw":` + stored + `}`, "{}"},
		{"others stay", "{" + a + "," + bad + "}", "{" + a + "," + bad + others + `,"nw":` + stored + "}", "{" + a + "," + bad + others + "}"},
		{"its place stays", `{"nw":7,` + a + "}", `{"nw":` + stored + "," + a + others + "}", "{" + a + others + "}"},
	} {
		if got := added(Stored(json.RawMessage(tc.setting), entry)); got != tc.stored {
			t.Errorf("%s: Stored:\n got %s\nwant %s", tc.name, got, tc.stored)
		}
		if got := added(Removed(json.RawMessage(tc.setting), "nw")); got != tc.removed {
			t.Errorf("%s: Removed:\n got %s\nwant %s", tc.name, got, tc.removed)
		}
	}
	const without = "{" + a + `,"chatrecall":+,"extensionmanager":+,"skills":+}`
	if got := added(Removed(json.RawMessage("{"+a+"}"), "todo")); got != without {
		t.Errorf("Removed of a platform extension:\n got %s\nwant %s", got, without)
	}
}

// added shortens the platform extensions that were added.
func added(setting json.RawMessage) string {
	text := string(setting)
	for _, p := range platform {
		e := Entry{true, Config{Type: "platform", Name: p.name, Description: p.description, Bundled: new(true), AvailableTools: []string{}}}
		text = strings.Replace(text, string(jsonwire.Of(e)), "+", 1)
	}
	return text
}
