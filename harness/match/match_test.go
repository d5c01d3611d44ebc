package match

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// answered is an exchange without a failure.
func answered(status int, body string, fields ...transcript.Field) *transcript.Exchange {
	return &transcript.Exchange{Response: &transcript.Response{
		Proto: "HTTP/1.1", Status: status, Header: fields,
		Body: transcript.Body{Bytes: []byte(body), Size: int64(len(body))},
	}}
}

// broken is an exchange without a response.
func broken(text string) *transcript.Exchange {
	return &transcript.Exchange{Failure: &transcript.Failure{Kind: transcript.FailReset, Phase: transcript.PhaseHead, Text: text}}
}

func text(s string) *string { return &s }

func whole(doc string) *transcript.JSONPattern {
	return &transcript.JSONPattern{Whole: json.RawMessage(doc)}
}

func at(path, value string) *transcript.JSONPattern {
	return &transcript.JSONPattern{At: map[string]json.RawMessage{path: json.RawMessage(value)}}
}

func matches(path, pattern string) *transcript.JSONPattern {
	return &transcript.JSONPattern{Matches: map[string]string{path: pattern}}
}

func absent(paths ...string) *transcript.JSONPattern {
	return &transcript.JSONPattern{Absent: paths}
}

// said returns "place: want …; got …" for each mismatch.
func said(all []Mismatch) []string {
	var out []string
	for _, m := range all {
		out = append(out, m.Place+": want "+m.Want+"; got "+m.Got)
	}
	return out
}

// tools is a response with one of everything.
var tools = answered(200, `{"tools":[{"id":"c-1_add","n":1.50},{"id":"c-1_sub","n":2}],"next":null,"total":12345678901234567890}`,
	transcript.Field{Name: "content-type", Value: "application/json"},
	transcript.Field{Name: "Cache-Control", Value: "no-cache"}, transcript.Field{Name: "Cache-Control", Value: "no-transform"},
)

// Each form of an expectation matches one response and not another, with these messages.
func TestExpectations(t *testing.T) {
	type demand = transcript.Expect
	header := func(name string, value *string) demand { return demand{Header: map[string]*string{name: value}} }
	for _, tc := range []struct {
		name   string
		expect demand
		got    *transcript.Exchange
		want   []string // "" for a match
	}{
		{"nothing is demanded", demand{}, tools, nil},
		{"nothing is demanded, and nothing came", demand{}, broken("the connection was reset"), nil},

		{"the status", demand{Status: 200}, tools, nil},
		{"another status", demand{Status: 201}, tools, []string{"status: want 201; got 200"}},
		{"the status of no answer", demand{Status: 200}, broken("the connection was reset"), []string{"status: want 200; got no answer: the connection was reset"}},
		{"the status of nothing at all", demand{Status: 200}, &transcript.Exchange{}, []string{"status: want 200; got no answer"}},

		{"a field, whatever its case", header("Content-Type", text("application/json")), tools, nil},
		{"a field with another value", header("Content-Type", text("text/plain")), tools, []string{`header Content-Type: want "text/plain"; got "application/json"`}},
		{"a value in another case", header("Content-Type", text("Application/JSON")), tools, []string{`header Content-Type: want "Application/JSON"; got "application/json"`}},
		{"a field that is missing", header("ETag", text("1")), tools, []string{`header ETag: want "1"; got no such field`}},
		{"an empty field that is missing", header("ETag", text("")), tools, []string{`header ETag: want ""; got no such field`}},
		{"a field that must be absent", header("ETag", nil), tools, nil},
		{"a field that must be absent and is there", header("content-type", nil), tools, []string{`header content-type: want no such field; got "application/json"`}},
		{"a field of two lines", header("Cache-Control", text("no-cache, no-transform")), tools, nil},
		{"one line of two", header("Cache-Control", text("no-cache")), tools, []string{`header Cache-Control: want "no-cache"; got "no-cache, no-transform"`}},
		{"a field that must be absent from no answer", header("ETag", nil), broken("the connection was reset"), []string{"answer: want an answer; got no answer: the connection was reset"}},
		{"fields in the order of their names", demand{Header: map[string]*string{"B": text("1"), "A": text("1")}}, tools, []string{`header A: want "1"; got no such field`, `header B: want "1"; got no such field`}},

		{"the body", demand{Body: text("ok")}, answered(200, "ok"), nil},
		{"another body", demand{Body: text("ok")}, answered(200, "ok\n"), []string{`body: want "ok"; got "ok\n"`}},
		{"no body", demand{Body: text("")}, answered(204, ""), nil},
		{"no body of no answer", demand{Body: text("")}, broken("the connection was reset"), []string{"answer: want an answer; got no answer: the connection was reset"}},

		{"JSON", demand{JSON: whole(`{"a":1}`)}, answered(200, ` { "a" : 1.0 } `), nil},
		{"other JSON", demand{JSON: whole(`{"a":1}`)}, answered(200, `{"a":2}`), []string{`body: want {"a":1}; got {"a":2}`}},
		{"JSON of no answer", demand{JSON: whole(`{"a":1}`)}, broken("timeout"), []string{"answer: want an answer; got no answer: timeout"}},
		{"JSON by path", demand{JSON: at("$.tools[1].id", `"c-1_sub"`)}, tools, nil},
		{"other JSON by path", demand{JSON: at("$.tools[1].id", `"c-1_add"`)}, tools, []string{`body $.tools[1].id: want "c-1_add"; got "c-1_sub"`}},

		{"a count of one", demand{Count: map[int]int{200: 1}}, tools, nil},
		{"a count of more, of one answer", demand{Count: map[int]int{200: 3}}, tools, []string{"count of 200: want 3; got 1"}},
		{"a count of no answer", demand{Count: map[int]int{200: 1}}, broken("timeout"), []string{"answer: want an answer; got no answer: timeout"}},

		{"the first of two alternatives", demand{OneOf: []demand{{Status: 200}, {Status: 404}}}, tools, nil},
		{"the second of two alternatives", demand{OneOf: []demand{{Status: 404}, {Status: 200}}}, tools, nil},
		{
			"none of two alternatives, the nearest is told", demand{OneOf: []demand{{Status: 404, Body: text("none")}, {Status: 201}}}, answered(200, "ok"),
			[]string{"status: want 201 (the nearest of 2 alternatives); got 200"},
		},
		{
			"none of two that are as near, the first is told", demand{OneOf: []demand{{Status: 400}, {Body: text("no")}}}, answered(200, ""),
			[]string{"status: want 400 (the nearest of 2 alternatives); got 200"},
		},
		{
			"none of two that differ in one place", demand{OneOf: []demand{{Status: 400}, {Status: 422}}}, answered(200, ""),
			[]string{"status: want 400 or 422; got 200"},
		},
		{
			"none of many that differ in one place", demand{OneOf: []demand{{Status: 200}, {Status: 201}, {Status: 202}, {Status: 203}, {Status: 204}, {Status: 404}}}, answered(500, ""),
			[]string{"status: want 200, 201, 202, 203 or one of 2 others; got 500"},
		},
		{"alternatives for no answer", demand{OneOf: []demand{{Status: 200}, {Body: text("")}}}, broken("timeout"), []string{"answer: want an answer; got no answer: timeout"}},
		{
			"alternatives in alternatives", demand{OneOf: []demand{{Status: 404}, {OneOf: []demand{{Body: text("a")}, {Body: text("ok")}}}}}, answered(200, "ok"), nil,
		},

		{
			"everything at once", demand{Status: 200, Header: map[string]*string{"X": text("1")}, Body: text("1"), JSON: whole("1"), OneOf: []demand{{Status: 200}, {Status: 201}}},
			answered(200, "1", transcript.Field{Name: "x", Value: "1"}), nil,
		},
		{
			"everything fails, in this order", demand{Status: 200, Header: map[string]*string{"X": nil}, Body: text("1"), JSON: whole("1"), OneOf: []demand{{Status: 200}, {Status: 201}}},
			answered(404, "2", transcript.Field{Name: "x", Value: "1"}),
			[]string{
				"status: want 200; got 404", `header X: want no such field; got "1"`, `body: want "1"; got "2"`, "body: want 1; got 2",
				"status: want 200 or 201; got 404",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, said(Exchange(&tc.expect, tc.got))); diff != "" {
				t.Errorf("mismatches (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	doc := string(tools.Response.Body.Bytes)
	for _, tc := range []struct {
		name    string
		pattern *transcript.JSONPattern
		doc     string
		want    []string
	}{
		{"members in another order", whole(`{"a":1,"b":[2]}`), `{"b":[2],"a":1}`, nil},
		{"elements in another order", whole(`[1,2]`), `[2,1]`, []string{"body: want [1,2]; got [2,1]"}},
		{"a member too many", whole(`{"a":1}`), `{"a":1,"b":null}`, []string{`body: want {"a":1}; got {"a":1,"b":null}`}},
		{"numbers by value", whole(`[1,100,0]`), `[1.0,1e2,-0]`, nil},
		{"numbers with all their digits", whole(`9007199254740993`), `9007199254740992`, []string{"body: want 9007199254740993; got 9007199254740992"}},
		{"a number is no string", whole(`1`), `"1"`, []string{`body: want 1; got "1"`}},
		{"null", whole(`null`), `null`, nil},
		{"null is not nothing", whole(`null`), ``, []string{"body: want JSON; got the document is empty"}},
		{"escapes mean what they stand for", whole(`"<a>\u00fc"`), `"\u003ca\u003eü"`, nil},
		{"what is no JSON", whole(`{}`), `<html>`, []string{"body: want JSON; got <html>: offset 0: invalid character '<' at start of value"}},
		{"what is cut off", whole(`{}`), `{"a":`, []string{`body: want JSON; got {"a":: the document ends before its value does`}},
		{"what is no JSON, by path", at("$.a", "1"), "ok", []string{"body: want JSON; got ok: offset 0: invalid character 'o' at start of value"}},
		{"what is no JSON has nothing absent either", absent("$.a"), "ok", []string{"body: want JSON; got ok: offset 0: invalid character 'o' at start of value"}},

		{"a value by path", at("$.total", "12345678901234567890"), doc, nil},
		{"a value with all its digits", at("$.total", "12345678901234567891"), doc, []string{"body $.total: want 12345678901234567891; got 12345678901234567890"}},
		{"a number by its value", at("$.tools[0].n", "1.5"), doc, nil},
		{"a list by path", at("$.tools[*].id", `"c-1_add"`), doc, []string{`body $.tools[*].id: want "c-1_add"; got 2 values`}},
		{"a document by path", at("$.tools[0]", `{"n":1.5,"id":"c-1_add"}`), doc, nil},
		{"null by path", at("$.next", "null"), doc, nil},
		{"null where nothing is", at("$.previous", "null"), doc, []string{"body $.previous: want null; got nothing"}},
		{"what a filter selects", at(`$.tools[?@.n > 1.9].id`, `"c-1_sub"`), doc, nil},
		{"what a filter does not select", at(`$.tools[?@.n > 2].id`, `"c-1_sub"`), doc, []string{`body $.tools[?@.n > 2].id: want "c-1_sub"; got nothing`}},
		{"markup is shown as it came", at("$.a", `"b"`), `{"a":"<b> & \"c\""}`, []string{`body $.a: want "b"; got "<b> & \"c\""`}},
		{"a path that is none selects nothing", at("$[", "1"), doc, []string{"body $[: want 1; got nothing"}},

		{"a string that matches", matches("$.tools[0].id", "^c-[0-9]+_"), doc, nil},
		{"a match anywhere in it", matches("$.tools[0].id", "1_a"), doc, nil},
		{"a string that does not match", matches("$.tools[0].id", "^c_"), doc, []string{`body $.tools[0].id: want a string that matches ^c_; got "c-1_add"`}},
		{"nothing does not match", matches("$.previous", ""), doc, []string{"body $.previous: want a string that matches ; got nothing"}},
		{"a number does not match", matches("$.tools[1].n", "2"), doc, []string{"body $.tools[1].n: want a string that matches 2; got 2"}},
		{"two strings do not match", matches("$.tools[*].id", "^c"), doc, []string{"body $.tools[*].id: want a string that matches ^c; got 2 values"}},
		{"an expression that is none matches nothing", matches("$.tools[0].id", "("), doc, []string{`body $.tools[0].id: want a string that matches (; got "c-1_add"`}},

		{"what is absent", absent("$.error", "$.tools[2]"), doc, nil},
		{"what is not absent", absent("$.error", "$.tools[1].n"), doc, []string{"body $.tools[1].n: want nothing; got 2"}},
		{"null is not absent", absent("$.next"), doc, []string{"body $.next: want nothing; got null"}},
		{"two that are not absent", absent("$.tools[*]"), doc, []string{"body $.tools[*]: want nothing; got 2 values"}},

		{
			"everything fails, in this order", &transcript.JSONPattern{
				Whole: json.RawMessage(`[]`), At: map[string]json.RawMessage{"$.b": json.RawMessage("2"), "$.a": json.RawMessage("2")},
				Matches: map[string]string{"$.b": "x", "$.a": "x"}, Absent: []string{"$.b", "$.a"},
			}, `{"a":1,"b":1}`, []string{
				`body: want []; got {"a":1,"b":1}`, "body $.a: want 2; got 1", "body $.b: want 2; got 1",
				"body $.a: want a string that matches x; got 1", "body $.b: want a string that matches x; got 1",
				"body $.b: want nothing; got 1", "body $.a: want nothing; got 1",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, said(JSON(tc.pattern, "body", []byte(tc.doc)))); diff != "" {
				t.Errorf("mismatches (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongDocumentsAreCutWithTheirLength(t *testing.T) {
	doc := `"` + strings.Repeat("ü", 1000) + `"`
	want := `"` + strings.Repeat("ü", 249) + "\ufffd… (2002 bytes)" // cut in the middle of a letter
	for _, p := range []*transcript.JSONPattern{whole(`""`), at("$", `""`)} {
		got := JSON(p, "body", []byte(doc))
		if len(got) != 1 || got[0].Got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBursts(t *testing.T) {
	type demand = transcript.Expect
	one, none, lost := answered(200, `{"n":1}`), answered(404, ""), broken("the connection was reset")
	for _, tc := range []struct {
		name   string
		expect demand
		got    []*transcript.Exchange
		want   []string
	}{
		{"nothing is demanded", demand{}, []*transcript.Exchange{one, none, lost}, nil},
		{"the counts", demand{Count: map[int]int{200: 1, 404: 2}}, []*transcript.Exchange{none, one, none}, nil},
		{"other counts", demand{Count: map[int]int{200: 1, 404: 2}}, []*transcript.Exchange{one, one, none}, []string{"count of 200: want 1; got 2", "count of 404: want 2; got 1"}},
		{"a status that nobody named", demand{Count: map[int]int{200: 2}}, []*transcript.Exchange{one, one, none}, []string{"count of 404: want 0; got 1"}},
		{"a status that did not come", demand{Count: map[int]int{200: 1, 409: 1}}, []*transcript.Exchange{one}, []string{"count of 409: want 1; got 0"}},
		{"a status that must not come", demand{Count: map[int]int{200: 1, 500: 0}}, []*transcript.Exchange{one}, nil},
		{"no answer", demand{Count: map[int]int{200: 2}}, []*transcript.Exchange{one, lost}, []string{"count of no answer: want 0; got 1", "count of 200: want 2; got 1"}},

		{"a status of each", demand{Status: 200}, []*transcript.Exchange{one, one}, nil},
		{"a status that one does not have", demand{Status: 200}, []*transcript.Exchange{one, none, none}, []string{"one of 3 answers, status: want 200; got 404"}},
		{"a document of each", demand{JSON: at("$.n", "1")}, []*transcript.Exchange{one, one}, nil},
		{"a document that one does not have", demand{JSON: at("$.n", "1")}, []*transcript.Exchange{one, none}, []string{"one of 2 answers, body: want JSON; got the document is empty"}},
		{
			"counts, and a field of each", demand{Count: map[int]int{200: 3}, Header: map[string]*string{"X": text("1")}}, []*transcript.Exchange{one, none},
			[]string{"count of 200: want 3; got 1", "count of 404: want 0; got 1", `one of 2 answers, header X: want "1"; got no such field`},
		},

		{"an alternative that the burst meets", demand{OneOf: []demand{{Count: map[int]int{200: 2}}, {Count: map[int]int{200: 1, 404: 1}}}}, []*transcript.Exchange{one, none}, nil},
		{
			"alternatives that it does not meet", demand{OneOf: []demand{{Count: map[int]int{200: 2}}, {Status: 200}}}, []*transcript.Exchange{one, none},
			[]string{"one of 2 answers, status: want 200 (the nearest of 2 alternatives); got 404"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, said(Matcher{}.Burst(&tc.expect, tc.got))); diff != "" {
				t.Errorf("mismatches (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	type pattern = transcript.Pattern
	added := &transcript.Event{Name: "added", Type: "message", Data: `{"id":"n-1","n":1}`}
	for _, tc := range []struct {
		name    string
		pattern pattern
		event   *transcript.Event
		want    bool
	}{
		{"any event", pattern{}, added, true},
		{"a comment is no event", pattern{}, &transcript.Event{Comment: true, Data: "ping"}, false},
		{"the name", pattern{Event: text("added")}, added, true},
		{"another name", pattern{Event: text("removed")}, added, false},
		{"what the wire calls it is not its name", pattern{Event: text("message")}, added, false},
		{"the data", pattern{Data: text(`{"id":"n-1","n":1}`)}, added, true},
		{"the data in other words", pattern{Data: text(`{"n":1,"id":"n-1"}`)}, added, false},
		{"JSON", pattern{JSON: whole(`{"n":1,"id":"n-1"}`)}, added, true},
		{"other JSON", pattern{JSON: whole(`{"n":2,"id":"n-1"}`)}, added, false},
		{"JSON by path", pattern{JSON: at("$.n", "1.0")}, added, true},
		{"other JSON by path", pattern{JSON: at("$.n", "2")}, added, false},
		{"a match", pattern{JSON: matches("$.id", "^n-")}, added, true},
		{"no match", pattern{JSON: matches("$.id", "^m-")}, added, false},
		{"what is absent", pattern{JSON: absent("$.error")}, added, true},
		{"what is not absent", pattern{JSON: absent("$.n")}, added, false},
		{"JSON of an event without any", pattern{JSON: absent("$.error")}, &transcript.Event{Name: "added", Data: "n-1"}, false},
		{"every part holds", pattern{Event: text("added"), Data: &added.Data, JSON: at("$.n", "1")}, added, true},
		{"one part does not hold", pattern{Event: text("added"), Data: &added.Data, JSON: at("$.n", "2")}, added, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Event(&tc.pattern, tc.event); got != tc.want {
				t.Errorf("Event(%+v, %+v) = %t, want %t", tc.pattern, tc.event, got, tc.want)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	for _, tc := range []struct {
		name, doc, path string
		want            string
		there           bool
	}{
		{"a string", `{"id":"n-1"}`, "$.id", `"n-1"`, true},
		{"markup stays what it is", `{"id":"<&>"}`, "$.id", `"<&>"`, true},
		{"a number keeps its digits", `{"n":1.50}`, "$.n", "1.50", true},
		{"null", `{"n":null}`, "$.n", "null", true},
		{"a document", `{"n":{"a":[1,true]}}`, "$.n", `{"a":[1,true]}`, true},
		{"nothing", `{"n":1}`, "$.m", "", false},
		{"two values", `[1,2]`, "$[*]", "", false},
		{"no JSON", `ok`, "$", "", false},
		{"no path", `{"n":1}`, "n", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, there := Select([]byte(tc.doc), tc.path)
			if string(got) != tc.want || there != tc.there {
				t.Errorf("Select(%s, %s) = %s, %t; want %s, %t", tc.doc, tc.path, got, there, tc.want, tc.there)
			}
		})
	}
}
