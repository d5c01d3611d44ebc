package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestShortIDsAreFoundWhereChanceIsRuledOut(t *testing.T) {
	rules := &Rules{Headers: []string{"Location"}, Volatile: []jsondiff.Volatile{{At: "$..id", Kind: jsondiff.ID}}}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"a segment", []string{`{"id":7}`, `{"at":"/items/7"}`}, []string{`{"id":1007}`, `{"at":"/items/1007"}`}, nil},
		{"in the middle of a path", []string{`{"id":7}`, `{"at":"/items/7/parts?x=1"}`}, []string{`{"id":1007}`, `{"at":"/items/1007/parts?x=1"}`}, nil},
		{"a value of a query", []string{`{"id":7}`, `{"at":"/items?after=7&x=1"}`}, []string{`{"id":1007}`, `{"at":"/items?after=1007&x=1"}`}, nil},
		{"two of them", []string{`[{"id":7},{"id":8}]`, `{"at":"/a/7/b/8"}`}, []string{`[{"id":8},{"id":9}]`, `{"at":"/a/8/b/9"}`}, nil},
		{"beside a number that is equal", []string{`{"id":7}`, `{"at":"/v/7/items/7"}`}, []string{`{"id":1007}`, `{"at":"/v/7/items/1007"}`}, nil},
		{"beside ids of a shape", []string{`{"id":7}`, `{"at":"/items/7/` + uuidA + `"}`}, []string{`{"id":1007}`, `{"at":"/items/1007/` + uuidX + `"}`}, nil},
		{"before the id", []string{`{"self":"/items/7","id":7}`}, []string{`{"self":"/items/1007","id":1007}`}, nil},
		{"before the id, in an object of its own", []string{`{"links":{"self":"/items/7"},"id":7}`}, []string{`{"links":{"self":"/items/1007"},"id":1007}`}, nil},
		{"in the elements of a list", []string{`[{"self":"/items/7","id":7},{"self":"/items/8","id":8}]`}, []string{`[{"self":"/items/17","id":17},{"self":"/items/18","id":18}]`}, nil},
		{"a word", []string{`{"id":"kquwu"}`, `{"text":"no kquwu here"}`}, []string{`{"id":"rtlat"}`, `{"text":"no rtlat here"}`}, nil},
		{"five digits", []string{`{"id":10007}`, `{"text":"no item 10007"}`}, []string{`{"id":10009}`, `{"text":"no item 10009"}`}, nil},

		{"another thing", []string{`[{"id":7},{"id":8}]`, `{"at":"/items/7"}`}, []string{`[{"id":8},{"id":9}]`, `{"at":"/items/9"}`}, []string{"value body /at"}},
		{"a stranger", []string{`{"id":7}`, `{"at":"/items/7"}`}, []string{`{"id":1007}`, `{"at":"/items/1008"}`}, []string{"value body /at"}},
		{"the other side's", []string{`{"id":7}`, `{"at":"/items/1007"}`}, []string{`{"id":1007}`, `{"at":"/items/7"}`}, []string{"value body /at"}},
		{"a part of a number", []string{`{"id":7}`, `{"at":"/items/72"}`}, []string{`{"id":8}`, `{"at":"/items/82"}`}, []string{"value body /at"}},
		{"digits that count", []string{`{"id":7}`, `{"text":"7 items"}`}, []string{`{"id":8}`, `{"text":"8 items"}`}, []string{"value body /text"}},
		{"a number that counts", []string{`{"id":7}`, `{"count":7}`}, []string{`{"id":8}`, `{"count":8}`}, []string{"value body /count"}},
		{"a part of a word", []string{`{"id":"kquwu"}`, `{"text":"kquwus"}`}, []string{`{"id":"rtlat"}`, `{"text":"rtlats"}`}, []string{"value body /text"}},
		{"other words around it", []string{`{"id":7}`, `{"at":"/items/7/a"}`}, []string{`{"id":1007}`, `{"at":"/items/1007/b"}`}, []string{"value body /at"}},
		{"more behind it", []string{`{"id":7}`, `{"at":"/items/7"}`}, []string{`{"id":1007}`, `{"at":"/items/1007/"}`}, []string{"value body /at"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, sides := range [][2][]string{{tc.ref, tc.cand}, {tc.cand, tc.ref}} {
				got := kinds(compared(newSide("ref").answers(sides[0]...), newSide("cand").answers(sides[1]...), rules))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", sides, diff)
				}
			}
		})
	}
}

// Two equal texts are not a match if they contain a short id that is bound to another one.
func TestAShortIDIsHeldToItsPartnerInEqualTexts(t *testing.T) {
	rules := &Rules{Headers: []string{"Location"}, Volatile: []jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}}
	long := `,"all":[` + strings.Repeat(`{"name":"a name that is long enough to be passed over","tags":["one","two"]},`, 50) + `{}]`
	for _, tc := range []struct {
		name, ids, both string
		want            []string
	}{
		{"a segment", "7 9", `{"at":"/items/7"}`, []string{"identity body /at"}},
		{"the candidate's", "7 9", `{"at":"/items/9"}`, []string{"identity body /at"}},
		{"a segment of an URL", "7 9", `{"at":"http://h/items/7/parts?x=1"}`, []string{"identity body /at"}},
		{"with an escape", "7 9", `{"at":"\/items\/7"}`, []string{"identity body /at"}},
		{"in a list", "7 9", `[{"a":1},{"at":["/items/7"]}]`, []string{"identity body /1/at/0"}},
		{"in a large document", "7 9", `{"at":{"a":"/items/7"}` + long + `}`, []string{"identity body /at/a"}},
		{"in what is no object", "7 9", `"/items/7"`, []string{"identity body"}},
		{"beside an id", "7 9", `{"at":"/items/7/` + uuidA + `"}`, []string{"identity body /at"}},
		{"letters and digits", `"a7" "b9"`, `{"text":"no item a7"}`, []string{"identity body /text"}},
		{"five digits", "10007 10009", `{"text":"no item 10007"}`, []string{"identity body /text"}},

		{"its partner", "7 7", `{"at":"/items/7"}`, nil},
		{"another one", "7 9", `{"at":"/items/8"}`, nil},
		{"a part of one", "7 9", `{"at":"/items/72"}`, nil},
		{"a number that counts", "7 9", `{"count":7,"text":"7 items","next":"?limit=7"}`, nil},
		{"a fraction", "7 9", `{"text":"5/7 of it, and 7 of 9"}`, nil},
		{"a word", `"red" "blue"`, `{"text":"red and blue"}`, nil},
	} {
		ref, cand, _ := strings.Cut(tc.ids, " ")
		got := compared(newSide("ref").answers(`{"id":`+ref+`}`, tc.both), newSide("cand").answers(`{"id":`+cand+`}`, tc.both), rules)
		if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	moved := func(name, id string) side {
		return newSide(name).answers(`{"id":`+id+`}`).exchange(201, transcript.Header{{Name: "Location", Value: "/items/7"}}, "")
	}
	if diff := cmp.Diff([]string{"identity header Location"}, kinds(compared(moved("ref", "7"), moved("cand", "9"), rules))); diff != "" {
		t.Errorf("a header field (-want +got):\n%s", diff)
	}
	story := func(name, id string) side {
		return newSide(name).answers(`{"id":`+id+`}`).stream("bus", "made /items/7")
	}
	if diff := cmp.Diff([]string{"identity event 1 (made) data"}, kinds(compared(story("ref", "7"), story("cand", "9"), rules))); diff != "" {
		t.Errorf("an event (-want +got):\n%s", diff)
	}
}

func TestAShortIDInLocation(t *testing.T) {
	rules := &Rules{Headers: []string{"Location"}, Volatile: []jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}}
	made := func(target, id, location string) side {
		return newSide(target).exchange(201, transcript.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Location", Value: location}}, `{"id":`+id+`}`)
	}
	if got := kinds(compared(made("ref", "7", "/items/7"), made("cand", "12", "/items/12"), rules)); got != nil {
		t.Errorf("the id's own location: %v", got)
	}
	got := kinds(compared(made("ref", "7", "/items/7"), made("cand", "12", "/items/13"), rules))
	if diff := cmp.Diff([]string{"header-value header Location"}, got); diff != "" {
		t.Errorf("another location (-want +got):\n%s", diff)
	}
}

func TestAShortIDThatTheClientHasAskedFor(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}}
	story := func(target, id, asked string) side {
		s := newSide(target).answers(`{"id":`+id+`}`, `{"error":"no item `+id+`"}`)
		s.t.Steps[1].Exchanges[0].Request = transcript.Request{Method: "GET", Target: asked}
		return s
	}
	if got := kinds(compared(story("ref", "7", "/items/7?x=1"), story("cand", "12", "/items/12?x=1"), rules)); got != nil {
		t.Errorf("what was asked for: %v", got)
	}
	got := kinds(compared(story("ref", "7", "/items"), story("cand", "12", "/items"), rules))
	if diff := cmp.Diff([]string{"value body /error"}, got); diff != "" {
		t.Errorf("nothing was asked for (-want +got):\n%s", diff)
	}
}
