package mutate_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

// Another order of a list without an order is no mistake. A lost, repeated or changed element is one.
func TestMutantsOfAListWithoutOrder(t *testing.T) {
	const body = `{"a":[{"id":"x","n":1},{"id":"y","n":2}],"b":["p","q"],"of":"x","by":"y"}`
	for _, key := range []string{"", "$.id"} {
		s := answered(t, body, body)
		s.Rules.Volatile = []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.List, Key: key, Rule: "here"}}
		for operator, want := range map[string][]string{
			"order/swapped":   {`{"a":[{"id":"x","n":1},{"id":"y","n":2}],"b":["q","p"],"of":"x","by":"y"}`},
			"order/reversed":  {`{"a":[{"id":"x","n":1},{"id":"y","n":2}],"b":["q","p"],"of":"x","by":"y"}`},
			"same/list-order": {`{"a":[{"id":"y","n":2},{"id":"x","n":1}],"b":["p","q"],"of":"x","by":"y"}`},
			"drop/first": {
				`{"a":[{"id":"y","n":2}],"b":["p","q"],"of":"x","by":"y"}`, `{"a":[{"id":"x","n":1},{"id":"y","n":2}],"b":["q"],"of":"x","by":"y"}`,
			},
		} {
			if diff := gocmp.Diff(want, mutants(t, s, operator)); diff != "" {
				t.Errorf("%s, key %q (-want +got):\n%s", operator, key, diff)
			}
		}
		for _, operator := range []string{"drop/first", "drop/last", "drop/all", "duplicate/last", "duplicate/all", "number/one-more", "identity/swapped", "identity/exchanged"} {
			for _, bad := range mutants(t, s, operator) {
				if found := foundBy(s.Rules, s.Reference, answered(t, body, bad).Candidate); found == "" {
					t.Errorf("%s, key %q: %s is not found", operator, key, bad)
				}
			}
		}
	}
}

// Swapping the ids of elements that differ in nothing else only reorders them.
func TestSwappedIDsThatOnlyReorderAListAreNoMutant(t *testing.T) {
	for body, want := range map[string]int{
		`{"a":[{"id":"x","n":1},{"id":"y","n":1}],"of":["x","y"]}`: 0,
		`{"a":[{"id":"x","n":1},{"id":"y","n":2}],"of":["x","y"]}`: 1,
	} {
		s := answered(t, body, body)
		s.Rules.Volatile = []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.List, Rule: "here"}}
		if got := mutants(t, s, "identity/swapped"); len(got) != want {
			t.Errorf("%s: %q, want %d", body, got, want)
		}
	}
}
