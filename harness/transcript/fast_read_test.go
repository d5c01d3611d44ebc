package transcript

import (
	"encoding/json"
	"testing"
)

// Lines that are read without encoding/json give the same result as with it, and no line is read that it rejects.
func TestBodyLineReadsWhatJSONReads(t *testing.T) {
	for _, tc := range []struct {
		line string
		read bool
	}{
		{`{"body":{"id":"0a1b","text":"{\"a\":1,\"b\":\"\\n\"}"}}` + "\n", true},
		{`{"body":{"id":"0a1b","text":"é \u00e9 \ud83d\ude00 <&> \/ \u2028"}}` + "\n", true},
		{`{"body":{"id":"","text":""}}` + "\n", true},
		{`{"body":{"id":"0a1b","text":"\ud83d"}}` + "\n", false},    // half a surrogate pair
		{"{\"body\":{\"id\":\"0a1b\",\"text\":\"\xff\"}}\n", false}, // not UTF-8
		{"{\"body\":{\"id\":\"0a1b\",\"text\":\"a\tb\"}}\n", false}, // a control character, which JSON forbids
		{`{"body":{"id":"0a1b","text":"a"b"}}` + "\n", false},
		{`{"body":{"id":"0a1b","text":"a","base64":"YQ=="}}` + "\n", false},
		{`{"body":{"id":"0a1b","text":"a","text":"b"}}` + "\n", false},
		{`{"body":{"id":"0a1b","base64":"/w=="}}` + "\n", false},
		{`{"body":{"id":"0\u0061","text":"a"}}` + "\n", false},
		{`{"body":{"id":"0a1b","text":"a"}} ` + "\n", false},
		{`{"body":{"id":"0a1b","text":null}}` + "\n", false},
		{`{"body":{"id":"0a1b","text":"a"}}`, false},
		{`{"footer":{"transcripts":1}}` + "\n", false},
		{``, false},
	} {
		id, content, ok := fastBody([]byte(tc.line))
		if ok != tc.read {
			t.Errorf("%q: read %t, want %t", tc.line, ok, tc.read)
		}
		if !ok {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(tc.line), &l); err != nil || l.Body.ID != id || *l.Body.Text != string(content) {
			t.Errorf("%q: %q, %q; encoding/json reads %+v, %v", tc.line, id, content, l.Body, err)
		}
	}
}

func FuzzBodyLineAgreesWithJSON(f *testing.F) {
	f.Add(`a\n\u00e9é\"`)
	f.Add("\xff")
	f.Add(`x"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		id, content, ok := fastBody([]byte(bodyBegins + `0a1b"` + textBegins + `"` + text + `"` + bodyEnds))
		if !ok {
			return
		}
		var want string
		if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil || id != "0a1b" || want != string(content) {
			t.Errorf("%q is read as %q, encoding/json reads %q, %v", text, content, want, err)
		}
	})
}

func TestPlainFieldReadsWhatJSONReads(t *testing.T) {
	for _, tc := range []struct {
		text string
		read bool
	}{
		{`["Content-Type","application/json"]`, true},
		{`["X",""]`, true},
		{`["a","b, c; d='e' ~"]`, true},
		{`["a","\"b\""]`, false},
		{`["a","é"]`, false},
		{`["a","b","c"]`, false},
		{`["a",null,"YQ=="]`, false},
		{`["a" ,"b"]`, false},
		{"[\"a\",\"b\x7f\"]", false},
		{`["a","b]`, false},
		{`["]`, false},
		{`null`, false},
	} {
		f, ok := fastField([]byte(tc.text))
		if ok != tc.read {
			t.Errorf("%s: read %t, want %t", tc.text, ok, tc.read)
		}
		var want []string
		if ok && (json.Unmarshal([]byte(tc.text), &want) != nil || len(want) != 2 || f != Field{want[0], want[1]}) {
			t.Errorf("%s is read as %q, encoding/json reads %q", tc.text, f, want)
		}
	}
}
