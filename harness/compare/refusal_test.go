package compare

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestARuleThatIsTooBroadIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name, path, ref, cand string
		want                  []jsondiff.RefusalKind
	}{
		{"a value", "$.a", `{"a":"x"}`, `{"a":"y"}`, nil},
		{"an object", "$.a", `{"a":{"b":1}}`, `{"a":{"b":2}}`, []jsondiff.RefusalKind{jsondiff.Structural}},
		{"a list", "$.a", `{"a":[]}`, `{"a":[]}`, []jsondiff.RefusalKind{jsondiff.Structural}},
		{"an object that only the candidate has", "$.a", `{"a":"x"}`, `{"a":{}}`, nil},
		{"an object that was looked for anywhere", "$..a", `{"a":{"b":1}}`, `{"a":{"b":2}}`, nil},
		{"elements, as many on both sides", "$.a[*]", `{"a":["x","y"]}`, `{"a":["z","u"]}`, nil},
		{"elements, more on one side", "$.a[*]", `{"a":["x","y"]}`, `{"a":["z"]}`, []jsondiff.RefusalKind{jsondiff.AmbiguousOrder}},
		{"a slice, more on one side", "$.a[0:2]", `{"a":["x","y"]}`, `{"a":["z"]}`, []jsondiff.RefusalKind{jsondiff.AmbiguousOrder}},
		{"one element, more on one side", "$.a[0]", `{"a":["x","y"]}`, `{"a":["z"]}`, nil},
		{"members of elements, more on one side", "$.a[*].b", `{"a":[{"b":"x"}]}`, `{"a":[{"b":"y"},{"b":"z"}]}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Volatile: []jsondiff.Volatile{{At: tc.path, Kind: jsondiff.Text, Rule: "f:1:2"}}}
			var got []jsondiff.RefusalKind
			for _, r := range compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), rules).Refused {
				got = append(got, r.Kind)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

// A rule counts as applied when it selected something on either side, even if both sides are equal.
func TestWhichRulesHaveApplied(t *testing.T) {
	h := transcript.Header{{Name: "Content-Type", Value: "application/json"}}
	ref := newSide("ref").exchange(200, h, `{"a":"x"}`).exchange(200, append(h, transcript.Field{Name: "etag", Value: "1"}), `{}`).stream("bus", `a {"id":1}`)
	cand := newSide("cand").exchange(200, h, `{"a":"x"}`).exchange(200, h, `{"b":1}`).stream("bus", `a {"id":1}`)
	got := compared(ref, cand, &Rules{
		Headers: []string{"ETag", "Allow", "Content-Type"},
		Steps:   map[string]Step{"2": {Headers: []string{"ETag"}}}, // not for step 1
		Volatile: []jsondiff.Volatile{
			{At: "$.a", Kind: jsondiff.Text, Rule: "equal"}, {At: "$.b", Kind: jsondiff.ID, Rule: "candidate"}, {At: "$.id", Kind: jsondiff.ID, Rule: "event"},
			{At: "$.c", Kind: jsondiff.ID, Rule: "never"},
		},
		Streams: map[string]streamdiff.Rules{"GET /bus": {OrderWithin: "$.id"}, "other": {}},
	}).Applied
	want := []string{"candidate", "equal", "event", "header content-type ", "header content-type 2", "header etag ", "header etag 2", "order GET /bus", "stream GET /bus"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}
