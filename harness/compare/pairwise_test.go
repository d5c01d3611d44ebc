package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// An id without digits is recognised by the other side's id in the same place, in lists as well.
func TestElementsWithIDsThatOnlyTwoTextsReveal(t *testing.T) {
	const plain, sure, other = "cus_rfGNUckioPunkX", "cus_8fGNUck3oPunkX", "cus_1aBcDeFgH2iJkL"
	for _, tc := range []struct{ name, ref, cand, want string }{
		{"texts", `["` + plain + `","` + sure + `"]`, `["` + other + `","` + "cus_QwErTyUiOpAsDf" + `"]`, ""},
		{"objects", `[{"id":"` + plain + `","n":1},{"id":"` + sure + `","n":2}]`, `[{"id":"` + other + `","n":1},{"id":"cus_QwErTyUiOpAsDf","n":2}]`, ""},
		{
			"one is missing",
			`[{"id":"` + plain + `","n":1},{"id":"` + sure + `","n":2},{"id":"x","n":3}]`, `[{"id":"` + other + `","n":1},{"id":"x","n":3}]`,
			"element-missing body /1",
		},
		{"another value", `[{"id":"` + plain + `","n":1},{"id":"y","n":2}]`, `[{"id":"` + other + `","n":7},{"id":"y","n":2}]`, "value body /0/n"},
		{"temporary names", `["/tmp/exp-dajwoybo.json","a"]`, `["/tmp/exp-dA7woybo.json","a"]`, ""},
		{"another kind of file", `["/tmp/exp-dajwoybo.json","a"]`, `["/tmp/exp-dA7woybo.html","a"]`, "value body /0"},
		{"two words", `["/tmp/exp-dajwoybo.json","a"]`, `["/tmp/exp-settings.json","a"]`, "value body /0"},
		{"nanoids", `["dlJqTVzXkWmFhBpRsAcYn","a"]`, `["V1StGXR8_Z5jdHi6B-myT","a"]`, ""},
		{"words", `["get-subscriptions","b"]`, `["get-registrations","b"]`, "value body /0"},
		{"another order", `["get-subscriptions","b"]`, `["b","get-subscriptions"]`, "order body"},
	} {
		for _, doc := range []struct{ name, before, after string }{{"alone", "", ""}, {"in a member", `{"of":`, "}"}} {
			t.Run(tc.name+"/"+doc.name, func(t *testing.T) {
				ref, cand := newSide("ref").answers(doc.before+tc.ref+doc.after), newSide("cand").answers(doc.before+tc.cand+doc.after)
				want := tc.want
				if doc.before != "" {
					want = strings.Replace(want, "body", "body /of", 1)
					want = strings.Replace(want, "/of /", "/of/", 1)
				}
				var got []string
				for _, d := range Transcripts(nil, ref.t, cand.t, &Rules{}).Differences {
					got = append(got, string(d.Kind)+" "+d.At.String())
				}
				if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// An id that was recognised in a list stays bound.
func TestIDsOfListsThatOnlyTwoTextsRevealAreBound(t *testing.T) {
	const plain, other = "cus_rfGNUckioPunkX", "cus_1aBcDeFgH2iJkL"
	ref := newSide("ref").answers(`["`+plain+`","a"]`, `{"of":"`+plain+`"}`)
	cand := newSide("cand").answers(`["`+other+`","a"]`, `{"of":"cus_2aBcDeFgH2iJkL"}`)
	got := Transcripts(nil, ref.t, cand.t, &Rules{}).Differences
	if len(got) != 1 || got[0].Kind != diff.IdentityBroken {
		t.Errorf("got %v, want a broken identity", got)
	}
}
