package extension_test

import (
	"os"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestEveryTypeIsReadAndWritten(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"sse","name":"a","uri":"u"}`: `{"type":"sse","name":"a","description":"","uri":"u","envs":{},"env_keys":[],"timeout":null,"bundled":null,"available_tools":[]}`,
		`{"type":"stdio","name":"a","cmd":"c","args":["x"],"envs":{"B":"1","A":"2","B":"3"},"timeout":0,"description":null}`:              `{"type":"stdio","name":"a","description":"","cmd":"c","args":["x"],"envs":{"B":"3","A":"2"},"env_keys":[],"timeout":0,"bundled":null,"available_tools":[]}`,
		`{"type":"builtin","name":"developer","display_name":"D","bundled":true,"timeout":300}`:                                           `{"type":"builtin","name":"developer","description":"","display_name":"D","timeout":300,"bundled":true,"available_tools":[]}`,
		`{"type":"platform","name":"todo","description":null}`:                                                                            `{"type":"platform","name":"todo","description":"","bundled":null,"available_tools":[]}`,
		`{"type":"streamable_http","name":"a","description":"d","uri":"u","headers":{"X":"$Y"},"env_keys":["Y"],"available_tools":["t"]}`: `{"type":"streamable_http","name":"a","description":"d","uri":"u","envs":{},"env_keys":["Y"],"headers":{"X":"$Y"},"timeout":null,"bundled":null,"available_tools":["t"]}`,
		`{"type":"frontend","name":"a","description":"","tools":[{"name":"t","title":null,"inputSchema":{"type":"object"},"icons":[],"x":1},{"_meta":{},"icons":[{"sizes":["1x1"],"src":"s","x":1}],"annotations":{"x":1,"openWorldHint":false,"idempotentHint":true,"destructiveHint":null,"readOnlyHint":true,"title":"T"},"outputSchema":{},"inputSchema":{},"name":"u"}]}`: `{"type":"frontend","name":"a","description":"","tools":[{"name":"t","inputSchema":{"type":"object"},"icons":[]},{"name":"u","inputSchema":{},"outputSchema":{},"annotations":{"title":"T","readOnlyHint":true,"idempotentHint":true,"openWorldHint":false},"icons":[{"src":"s","sizes":["1x1"]}],"_meta":{}}],"instructions":null,"bundled":null,"available_tools":[]}`,
		`{"type":"inline_python","name":"a","description":"","code":"pass","dependencies":["numpy"],"bundled":true}`: `{"type":"inline_python","name":"a","description":"","code":"pass","timeout":null,"dependencies":["numpy"],"available_tools":[]}`,
	} {
		c, err := decode.Text([]byte(in), extension.Decode)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := string(jsonwire.Of(c)); got != want {
			t.Errorf("written again:\n got %s\nwant %s", got, want)
		}
	}
}

func TestWhatIsMissing(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"magic"}`:                                                       "type: unknown variant `magic`, expected one of `sse`, `stdio`, `builtin`, `platform`, `streamable_http`, `frontend`, `inline_python` at line 1 column 15",
		`{"type":"sse","name":"a"}`:                                              "missing field `uri` at line 1 column 25",
		`{"type":"platform","name":"a"}`:                                         "missing field `description` at line 1 column 30",
		`{"type":"builtin","name":"a","timeout":-1}`:                             "timeout: invalid value: integer out of range at line 1 column 41",
		`{"type":"builtin","name":"a","timeout":1.5}`:                            "timeout: invalid type: number, expected an integer at line 1 column 42",
		`{"type":"sse","name":"a","uri":"","envs":{"A":1}}`:                      "envs.A: invalid type: number, expected a string at line 1 column 47",
		`{"type":"sse","name":"a","uri":"","env_keys":null}`:                     "env_keys: invalid type: null, expected an array at line 1 column 49",
		`{"type":"frontend","name":"a","description":"","tools":[{"name":"t"}]}`: "tools[0]: missing field `inputSchema` at line 1 column 68",
		`{"type":"frontend","name":"a","description":"","tools":[{"name":"t","inputSchema":{},"icons":[{}]}]}`:                         "tools[0].icons[0]: missing field `src` at line 1 column 96",
		`{"type":"frontend","name":"a","description":"","tools":[{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}]}`: "tools[0].annotations.readOnlyHint: invalid type: string, expected a boolean at line 1 column 120",
	} {
		v, err := decode.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := extension.Decode(v); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", in, err, want)
		}
		if _, err := extension.DecodeInRecipe(v); (err == nil) != (in == `{"type":"platform","name":"a"}`) {
			t.Errorf("%s in a recipe: %v", in, err)
		}
	}
}

func TestKeysHaveNoBlanks(t *testing.T) {
	for name, want := range map[string]string{"My Ext-1": "myext-1", "": "", "\tÄ\u00a0B\u2003c ": "äbc", "İx": "i\u0307x", "STRAẞE": "straße", "ΑΣ": "ας"} {
		if got := extension.Key(name); got != want {
			t.Errorf("Key(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNormalizedKeysFollowFromKeys(t *testing.T) {
	for name, want := range map[string]string{"My Ext-1": "myext-1", "İx": "i_x", "Straße": "stra_e", "\u212a": "k"} {
		if got := extension.NormalizedKey(name); got != want {
			t.Errorf("NormalizedKey(%q) = %q, want %q", name, got, want)
		}
	}
}
