package yamljson_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestYAMLIsReadAsJSON(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      `null`,
		"# nothing\n":                           `null`,
		"{}\n":                                  `{}`,
		"b: 1\na: [x, 'y', \"\\n\", ~, null]\n": `{"b":1,"a":["x","y","\n",null,null]}`,
		"n: 12345678901234567890123\nf: 1.50\ne: 1e3\nh: 0xff\no: 0o17\nneg: -0\np: +5":      `{"n":12345678901234567890123,"f":1.50,"e":1e3,"h":255,"o":15,"neg":0,"p":5}`,
		"t: true\nf: False\ny: yes\nn: off":                                                  `{"t":true,"f":false,"y":"yes","n":"off"}`,
		"d: 2025-12-10\nx: .inf\ny: .nan\nz: .5":                                             `{"d":"2025-12-10","x":".inf","y":".nan","z":0.5}`,
		"a: 1_000\nb: 0_1\nc: 1_0.5\nd: 0b1\ne: 017\nf: -0x1\ng: 0x1G\nh: 0o8\ni: -007":      `{"a":"1_000","b":"0_1","c":"1_0.5","d":"0b1","e":17,"f":"-0x1","g":"0x1G","h":"0o8","i":-7}`,
		"a: tRUE\nb: TRUE\nc: nULL\nd: NULL\ne:\nf: ''\ng: '1'\nh: \"~\"\ni: >-\n  1":        `{"a":"tRUE","b":true,"c":"nULL","d":null,"e":null,"f":"","g":"1","h":"~","i":"1"}`,
		"a: 1.\nb: +.5\nc: 1.e-1\nd: .\ne: 1e\nf: 1e999\ng: -012.50\nh: .5e":                 `{"a":1,"b":0.5,"c":0.1,"d":".","e":"1e","f":1e999,"g":-12.5,"h":".5e"}`,
		"a: !!str 1\nb: !!int \"7\"\nc: !!float 1\nd: !!str\ne: !!null ''\nf: !!bool 'true'": `{"a":"1","b":7,"c":1,"d":"","e":null,"f":true}`,
		"a: &x {k: 1}\nb: *x\n":                 `{"a":{"k":1},"b":{"k":1}}`,
		"1: one\ntrue: two\n":                   `{"1":"one","true":"two"}`,
		"text: |\n  a\n  b\n":                   `{"text":"a\nb\n"}`,
		`{"json": [1.0, {"a": null}]}`:          `{"json":[1.0,{"a":null}]}`,
		"%YAML 1.2\n---\na: 0o7\nb: yes\n...\n": `{"a":7,"b":"yes"}`,
		"\uFEFF# c\r\n\n%TAG ! tag:x,2000:\n%YAML  1.2 # c\n---\na: \"%YAML 1.2\"": `{"a":"%YAML 1.2"}`,
		"x: \"a\\\"<\\u0000\"": `{"x":"a\"<\u0000"}`,
		"\"q\\\"k\": 1":        `{"q\"k":1}`,
	} {
		got, err := yamljson.Parse([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("Parse(%q):\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestWhatIsNotOneDocumentIsRefused(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'i'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 10) + "]\n"
	}
	for _, in := range []string{
		"a: [", "a: 1\na: 2", "a: 1\n---\nb: 2", "? [a]\n: 1", "\ta: 1", "a: *x", bomb, "a: &a [*a]", "\xff\xfea\x00:\x00 \x001\x00", "\xfe\xff\x00a\x00:\x00 \x001", "a: \"\xff\"", "a: \"\xed\xa0\x80\"", "a: \"\xc0\xaf\"",
	} {
		if got, err := yamljson.Parse([]byte(in)); err == nil {
			t.Errorf("Parse(%.40q) = %.60s, want an error", in, got)
		}
	}
}

func TestADocumentIsBounded(t *testing.T) {
	const text = 100_000
	times := func(s string, n int) string { return strings.Repeat(s, n) }
	nested := func(levels int) string { return times("[", levels) + times("]", levels) }
	thousands := "a: &a [" + times("1,", 999) + "]\nb: [" + times("*a,", 998) + "]\nc: [" // 999,003 values
	texts := "a: &a \"" + times("x", text-1) + "\\x41\"\nb: [" + times("*a,", 103) + "]\nc: "
	keys := "? &k \"" + times("x", text) + "\"\n: 1\nb: [" + times("{*k : 1},", 103) + "]\nc: "
	for name, tc := range map[string]struct{ largest, tooLarge string }{
		"levels":             {nested(500), nested(501)},
		"levels of an alias": {"a: &a " + nested(300) + "\nb: " + times("[", 199) + "*a" + times("]", 199), "a: &a " + nested(300) + "\nb: " + times("[", 200) + "*a" + times("]", 200)},
		"values":             {thousands + times("1,", 997) + "]", thousands + times("1,", 998) + "]"},
		"texts":              {texts + times("x", 10<<20-104*text-3), texts + times("x", 10<<20-104*text-2)},
		"keys":               {keys + times("x", 10<<20-104*(text+1)-2), keys + times("x", 10<<20-104*(text+1)-1)},
	} {
		if _, err := yamljson.Parse([]byte(tc.largest)); err != nil {
			t.Errorf("%s: the largest document is refused: %v", name, err)
		}
		if got, err := yamljson.Parse([]byte(tc.tooLarge)); err == nil {
			t.Errorf("%s: a larger document is read: %d bytes of JSON", name, len(got))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a: [1, {b: 0x1F}]\nc: &x 1.5e3\nd: *x\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if got, err := yamljson.Parse(in); err == nil && !json.Valid(got) {
			t.Fatalf("Parse(%q) = %q, which is not JSON", in, got)
		}
	})
}
