package jsonwire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestParseNormalizesTexts(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"blanks go", " \t\r\n{ \"a\" : [ 1 , true ] } \n", `{"a":[1,true]}`},
		{"numbers keep their digits", `[1.0,-0,1e400,12345678901234567890,1E+2]`, `[1.0,-0,1e400,12345678901234567890,1E+2]`},
		{"keys keep their order", `{"b":1,"10":2,"a":3,"":4}`, `{"b":1,"10":2,"a":3,"":4}`},
		{"the last of repeated names wins, in the first one's place", `{"a":1,"b":2,"a":3,"c":4,"a":{"x":1,"x":2}}`, `{"a":{"x":2},"b":2,"c":4}`},
		{"names repeat however they are escaped", `{"a":1,"\u0061":2}`, `{"a":2}`},
		{"repeated in nested objects", `[{"k":[{"z":1,"z":[]}],"k":{"y":0,"y":1}}]`, `[{"k":{"y":1}}]`},
		{"escapes that are not needed go", `"\u003c\/\u2028\u00fc\ud83d\ude00"`, "\"</\u2028ü😀\""},
		{"escapes that are needed are the shortest", `"\u0022\u005C\u0008\u0009\u000a\u000C\u000D\u0000\u001F\u007f"`, `"\"\\\b\t\n\f\r\u0000\u001f` + "\x7f\""},
		{"half a surrogate pair keeps its escape", `["\uD800","x\udfffy","\ude00\ud83d","\ud83d\ud83d\ude00","\ud83dA"]`, `["\ud800","x\udfffy","\ude00\ud83d","\ud83d😀","\ud83dA"]`},
		{"a byte order mark goes", "\uFEFF{}", `{}`},
		{"a byte order mark inside stays", "\"\uFEFF\"", "\"\uFEFF\""},
		{"a lone invalid byte", "\"a\xffb\"", `"a�b"`},
		{"a cut sequence is one", "\"\xe2\x82\"", `"�"`},
		{"a cut sequence of three is one", "\"\xf0\x9f\x98x\"", `"�x"`},
		{"a surrogate in bytes is three", "\"\xed\xa0\x80\"", `"���"`},
		{"an overlong form is two", "\"\xc0\xaf\"", `"��"`},
		{"beyond the last code point is four", "\"\xf4\x90\x80\x80\"", `"����"`},
		{"invalid bytes in names", "{\"\xff\":1,\"\xfe\":2}", `{"�":2}`},
		{"scalars", ` null `, `null`},
		{"empty containers", `[ { } , [ ] ]`, `[{},[]]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := jsonwire.Parse([]byte(tc.in))
			if err != nil || string(got) != tc.want {
				t.Errorf("Parse(%q):\n got %q, %v\nwant %q", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestParseRefusesWhatIsNotOneJSONValue(t *testing.T) {
	for _, in := range []string{
		"", " ", "\uFEFF", "\uFEFF\uFEFF{}", "{", "[1,]", "{} {}", "{}x", "[1 2]", "nul", "01", "+1", "1.", ".5", "0x1",
		"'a'", `"a`, `"\x"`, `"\u12"`, "\"\t\"", `{"a"}`, `{a:1}`, `{"a":1,}`, `{1:2}`, "NaN", "Infinity", "undefined",
		"// c\n{}", "\u00a0{}", "{}\x00", "]", ",", ":", "{}]",
		strings.Repeat("[", 9_001) + strings.Repeat("]", 9_001),
		strings.Repeat(`{"a":`, 9_001) + "1" + strings.Repeat("}", 9_001),
	} {
		if got, err := jsonwire.Parse([]byte(in)); err == nil {
			t.Errorf("Parse(%.40q) = %.40q, want an error", in, got)
		}
	}
}

func TestParseGoesNineThousandDeep(t *testing.T) {
	in := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	if got, err := jsonwire.Parse([]byte(in)); err != nil || string(got) != in {
		t.Errorf("Parse of 9,000 nested arrays: %d bytes, %v", len(got), err)
	}
}

func TestKindNamesTypesLikeJavaScriptValidators(t *testing.T) {
	for text, want := range map[string]string{
		``: "undefined", `null`: "null", `true`: "boolean", `false`: "boolean", `-1`: "number", `0`: "number",
		`""`: "string", `[]`: "array", `{}`: "object",
	} {
		if got := jsonwire.Text(text).Kind(); got != want {
			t.Errorf("Text(%q).Kind() = %q, want %q", text, got, want)
		}
	}
}

func TestPickFindsMembersByTheirExactName(t *testing.T) {
	text, err := jsonwire.Parse([]byte(`{"id":"x","ID":1,"i\u0064x":2,"q\"":3,"parameters":{"id":[",}"]},"":0}`))
	if err != nil {
		t.Fatal(err)
	}
	got := text.Pick("parameters", "id", "Id", "idx", "")
	want := []jsonwire.Text{jsonwire.Text(`{"id":[",}"]}`), jsonwire.Text(`"x"`), nil, jsonwire.Text(`2`), jsonwire.Text(`0`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Pick (-want +got):\n%s", diff)
	}
}

func TestObjectLeavesOutWhatIsNotThere(t *testing.T) {
	got := jsonwire.Object([]string{"a", "b", "c"}, []jsonwire.Text{jsonwire.Text("1"), nil, jsonwire.Text("{}")})
	if want := `{"a":1,"c":{}}`; string(got) != want {
		t.Errorf("Object = %s, want %s", got, want)
	}
	if got := jsonwire.Object([]string{"a"}, []jsonwire.Text{nil}); string(got) != "{}" {
		t.Errorf("Object of nothing = %s, want {}", got)
	}
}

func TestIntegerIsDecidedByValue(t *testing.T) {
	const most = 1<<63 - 1
	for _, tc := range []struct {
		text string
		n    int64
		ok   bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"0.000", 0, true}, {"0e999999999999999999999", 0, true},
		{"1000", 1000, true}, {"1000.0", 1000, true}, {"1e3", 1000, true}, {"1E+3", 1000, true}, {"0.1e1", 1, true},
		{"12300e-2", 123, true}, {"1.5e1", 15, true}, {"-2.50e2", -250, true},
		{"1.5", 0, false}, {"1e-1", 0, false}, {"12345e-3", 0, false},
		{"9007199254740992.5", 9007199254740992, true}, {"1e-99999999999999999999", 0, true}, // rounded to doubles
		{"9223372036854775807", most, true}, {"9223372036854775808", most, true}, {"-1e300", -most, true},
		{"1e400", 0, false}, {"-1e99999999999999999999", 0, false}, // beyond the range of doubles
		{`"1"`, 0, false}, {"null", 0, false}, {"true", 0, false}, {"[1]", 0, false}, {"", 0, false},
	} {
		if n, ok := jsonwire.Text(tc.text).Integer(); n != tc.n || ok != tc.ok {
			t.Errorf("Text(%q).Integer() = %d, %t; want %d, %t", tc.text, n, ok, tc.n, tc.ok)
		}
	}
}

func TestGoValuesSurviveTheRoundTrip(t *testing.T) {
	type value struct {
		Name  string           `json:"name"`
		List  []string         `json:"list"`
		Raw   json.RawMessage  `json:"raw"`
		Maybe *json.RawMessage `json:"maybe,omitempty"`
		Text  *string          `json:"text,omitempty"`
	}
	const in = `{"name":"\ud800 </ü\u2028\"","NAME":"no","list":["\udc00",""],"raw":{"z":1.0,"a":"\ud83d<","n":1e400},"maybe":{},"more":1}`
	text, err := jsonwire.Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var v value
	if err := jsonwire.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"\ud800 </ü` + "\u2028" + `\"","list":["\udc00",""],"raw":{"z":1.0,"a":"\ud83d<","n":1e400},"maybe":{}}`
	if got := jsonwire.Marshal(v); string(got) != want {
		t.Errorf("Marshal(Unmarshal(%s)):\n got %s\nwant %s", in, got, want)
	}
	if got, want := string(jsonwire.Marshal(value{Raw: json.RawMessage("0")})), `{"name":"","list":[],"raw":0}`; got != want {
		t.Errorf("Marshal of empty fields:\n got %s\nwant %s", got, want)
	}
}

func TestMarshalKeepsDigitsAndWritesTimes(t *testing.T) {
	at := time.Date(2025, 12, 10, 17, 59, 31, 5e8, time.FixedZone("", 3600))
	value := []any{json.Number("1.50"), json.Number(""), at, &at, jsonwire.Pairs{{Name: "z", Value: "<"}, {Name: "a"}}, jsonwire.Pairs(nil)}
	const want = `[1.50,null,"2025-12-10T16:59:31.500Z","2025-12-10T16:59:31.500Z",{"z":"<","a":""},null]`
	if got := string(jsonwire.Marshal(value)); got != want {
		t.Errorf("Marshal:\n got %s\nwant %s", got, want)
	}
}

func TestPairsAreReadInOrder(t *testing.T) {
	for text, want := range map[string]jsonwire.Pairs{`{"z":"1","a":"\u0000"}`: {{Name: "z", Value: "1"}, {Name: "a", Value: "\x00"}}, `{}`: {}, `null`: nil} {
		got := jsonwire.Pairs{{Name: "old"}}
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{`[]`, `"a"`, `{"a":1}`, `{"a":null}`} {
		if err := json.Unmarshal([]byte(text), new(jsonwire.Pairs)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestUnmarshalRefusesTheWrongType(t *testing.T) {
	var v struct {
		Name string `json:"name"`
	}
	for _, text := range []string{`{"name":5}`, `{"name":null}`, `{"name":{}}`} {
		if err := jsonwire.Unmarshal(jsonwire.Text(text), &v); err == nil {
			t.Errorf("Unmarshal(%s) into a string field succeeded", text)
		}
	}
}

func TestAppendQuotedReplacesWhatIsNotUTF8(t *testing.T) {
	if got, want := string(jsonwire.AppendQuoted(nil, "a\xffb\xed\xa0\x80c\uFFFD")), `"a�b\ud800c�"`; got != want {
		t.Errorf("AppendQuoted = %s, want %s", got, want)
	}
}

// FuzzParse compares Parse with encoding/json: they accept the same texts, with the same meaning.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,{"b":"\ud800\u0000","b":null}],"a":"x"}`, "\uFEFF[]", "\"\xe2\x82\"", `{} {}`, `"\ud83d\ude00\/"`, "{\"\xff\":1,\"\xfe\":2}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		clean := []byte(strings.ToValidUTF8(string(bytes.TrimPrefix(in, []byte("\uFEFF"))), "?")) // as valid as Parse's replacement
		text, err := jsonwire.Parse(in)
		if valid := json.Valid(clean); (err == nil) != valid {
			t.Fatalf("Parse(%q): %v; encoding/json says valid: %t", in, err, valid)
		}
		if err != nil {
			return
		}
		again, err := jsonwire.Parse(text)
		if err != nil || !bytes.Equal(again, text) {
			t.Fatalf("Parse is not idempotent: %q, then %q, %v", text, again, err)
		}
		if rebuilt := rebuild(text); !bytes.Equal(rebuilt, text) {
			t.Fatalf("walking %q gives %q", text, rebuilt)
		}
		if !bytes.Equal(clean, bytes.TrimPrefix(in, []byte("\uFEFF"))) {
			return // the replacement differs
		}
		if diff := cmp.Diff(decode(t, clean), decode(t, text)); diff != "" {
			t.Fatalf("Parse changed the value of %q (-want +got):\n%s", in, diff)
		}
	})
}

// rebuild writes a text again from what walking it yields.
func rebuild(text jsonwire.Text) jsonwire.Text {
	switch text.Kind() {
	case "string":
		return jsonwire.AppendQuoted(nil, text.Str())
	case "array":
		out := jsonwire.Text("[")
		for i, element := range text.Elements() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, rebuild(element)...)
		}
		return append(out, ']')
	case "object":
		out := jsonwire.Text("{")
		for name, value := range text.Members() {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, rebuild(name)...), ':'), rebuild(value)...)
		}
		return append(out, '}')
	}
	return text
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json: %v", err)
	}
	return v
}

func BenchmarkParse(b *testing.B) {
	tool := `{"id":"search","description":"Searches the \"docs\"","parameters":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}}`
	body := []byte(`{"clientID":"c1","tools":[` + strings.Repeat(tool+",", 500) + tool + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := jsonwire.Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}
