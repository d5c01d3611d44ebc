package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func listRules(at, key string) *Rules {
	return &Rules{Volatile: []jsondiff.Volatile{{At: at, Kind: jsondiff.List, Key: key, Rule: "here"}}}
}

// loosely compares two bodies, and returns the differences with the elements that they name, and the rejected rules.
func loosely(rules *Rules, refs, cands []string) (out []string) {
	ref, cand := newSide("ref"), newSide("cand")
	for i := range refs {
		ref, cand = ref.answers(refs[i]), cand.answers(cands[i])
	}
	got := compared(ref, cand, rules)
	for _, d := range got.Differences {
		text := fmt.Sprintf("%s %s: %s, %s", d.Kind, d.At, d.Ref, d.Cand)
		if d.At.Element != "" {
			text += " in " + d.At.Element
		}
		out = append(out, text)
	}
	for _, r := range got.Refused {
		out = append(out, string(r.Kind)+": "+r.Text)
	}
	return out
}

const (
	idA, idB, idC = "0b9c1f6e-7a51-4c58-9d6b-2f1e8a7c4d11", "1c8d2a7f-8b62-4d69-8e7c-3a2f9b8d5e22", "2d7e3b80-9c73-4e7a-9f8d-4b30ac9e6f33"
	idX, idY, idZ = "9f1e8d7c-6b5a-4c3d-8e2f-1a0b9c8d7e6f", "8e0d7c6b-5a49-4b2c-9d1e-0f9a8b7c6d5e", "7dfc6b5a-4938-4a1b-8c0d-fe8a7b6c5d4e"
)

func TestAListWithoutOrder(t *testing.T) {
	for _, tc := range []struct {
		name, at, key string
		ref, cand     string
		want          []string
	}{
		{"another order", "$.a", "", `{"a":[1,"x",{"b":1}]}`, `{"a":[{"b":1},1,"x"]}`, nil},
		{"another order, at the root", "$", "", `[1,2,3]`, `[3,1,2]`, nil},
		{"another order in a list in a list", "$.a[*].b", "", `{"a":[{"b":[1,2]},{"b":[3,4]}]}`, `{"a":[{"b":[2,1]},{"b":[4,3]}]}`, nil},
		{"another order of the lists around", "$.a[*].b", "", `{"a":[{"b":[1,2]},{"b":[3,4]}]}`, `{"a":[{"b":[3,4]},{"b":[2,1]}]}`, []string{
			`order body /a: [{"b":[1,2]},{"b":[3,4]}], [{"b":[3,4]},{"b":[2,1]}]`,
		}},
		{"another order in both", "$..*", "", `{"a":[{"b":[1,2]},{"b":[3,4]}]}`, `{"a":[{"b":[4,3]},{"b":[2,1]}]}`, nil},
		{"a list that no rule selects", "$.b", "", `{"a":[1,2]}`, `{"a":[2,1]}`, []string{`order body /a: [1,2], [2,1]`}},
		{"one lost", "$.a", "", `{"a":["x","y","z"]}`, `{"a":["z","x"]}`, []string{`element-missing body /a/1: "y", —`}},
		{"one twice", "$.a", "", `{"a":["x","y"]}`, `{"a":["y","x","y"]}`, []string{`element-extra body /a/2: —, "y"`}},
		{"twice instead of another", "$.a", "", `{"a":["x","y","y"]}`, `{"a":["y","x","x"]}`, []string{`element-missing body /a/2: "y", —`, `element-extra body /a/2: —, "x"`}},
		{"a changed member", "$.a", "", `{"a":[{"n":"x","m":1,"o":2},{"n":"y","m":1,"o":2}]}`, `{"a":[{"n":"y","m":1,"o":3},{"n":"x","m":1,"o":2}]}`, []string{
			`value body /a/1/o: 2, 3 in {"n":"y","m":1,"o":2}`,
		}},
		{"another object", "$.a", "", `{"a":[{"n":"x"},{"n":"y"}]}`, `{"a":[{"n":"z"},{"n":"x"}]}`, []string{
			`element-missing body /a/1: {"n":"y"}, —`, `element-extra body /a/0: —, {"n":"z"}`,
		}},
		{"a list for a text", "$.a", "", `{"a":[1,2]}`, `{"a":"x"}`, []string{`type body /a: [1,2], "x"`}},

		{"a key in another order", "$.a", "$.id", `{"a":[{"id":1,"n":"x"},{"id":2,"n":"x"}]}`, `{"a":[{"id":2,"n":"x"},{"id":1,"n":"x"}]}`, nil},
		{"a changed member of a key", "$.a", "$.id", `{"a":[{"id":1,"n":"x"},{"id":2,"n":"x"}]}`, `{"a":[{"id":2,"n":"y"},{"id":1,"n":"x"}]}`, []string{
			`value body /a/1/n: "x", "y" in $.id 2`,
		}},
		{"everything changed but the key", "$.a", "$.id", `{"a":[{"id":"p","n":"x"},{"id":"q","n":"y"}]}`, `{"a":[{"id":"q","n":"x"},{"id":"p","n":"y"}]}`, []string{
			`value body /a/0/n: "x", "y" in $.id "p"`, `value body /a/1/n: "y", "x" in $.id "q"`,
		}},
		{"a lost key", "$.a", "$.id", `{"a":[{"id":1},{"id":2},{"id":3}]}`, `{"a":[{"id":3},{"id":1}]}`, []string{`element-missing body /a/1: {"id":2}, — in $.id 2`}},
		{"a deeper key", "$.a", "$.of.id", `{"a":[{"of":{"id":1}},{"of":{"id":2}}]}`, `{"a":[{"of":{"id":2}},{"of":{"id":1}}]}`, nil},
		{"no key, in the same order", "$.a", "$.id", `{"a":[{"id":1},{"n":2}]}`, `{"a":[{"id":1},{"n":2}]}`, []string{
			"rule-key: the rule for $.a pairs elements by $.id, but element 1 has no such value, in the reference's list at step 1 body /a: choose a key that each element has alone, or narrow the path of the list",
		}},
		{"no key on one side", "$.a", "$.id", `{"a":[{"id":1},{"id":2}]}`, `{"a":[{"id":1},{"n":2}]}`, []string{
			`field-missing body /a/1/id: 2, —`, `field-extra body /a/1/n: —, 2`,
			"rule-key: the rule for $.a pairs elements by $.id, but element 1 has no such value, in the candidate's list at step 1 body /a: choose a key that each element has alone, or narrow the path of the list",
		}},
		{"a key twice", "$.a", "$.id", `{"a":[{"id":1},{"id":2}]}`, `{"a":[{"id":1},{"id":1}]}`, []string{
			`value body /a/1/id: 2, 1`,
			"rule-key: the rule for $.a pairs elements by $.id, but elements 0 and 1 have the same key, in the candidate's list at step 1 body /a: choose a key that each element has alone, or narrow the path of the list",
		}},
		{"several keys", "$.a", "$.*", `{"a":[{"x":1,"y":2}]}`, `{"a":[{"x":1,"y":2}]}`, []string{
			"rule-key: the rule for $.a pairs elements by $.*, but element 0 has 2 such values, in the reference's list at step 1 body /a: choose a key that each element has alone, or narrow the path of the list",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, loosely(listRules(tc.at, tc.key), []string{tc.ref}, []string{tc.cand})); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// Generated ids do not say which elements belong together until they are bound.
func TestElementsWithoutOrderBindTheirIDs(t *testing.T) {
	item := func(id, rest string) string { return fmt.Sprintf(`{"id":%q,%s}`, id, rest) }
	list := func(items ...string) string { return `{"a":[` + strings.Join(items, ",") + `]}` }
	one := func(id string) string { return fmt.Sprintf(`{"id":%q}`, id) }
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      map[string][]string // by the rule's key
	}{
		{
			"the content tells them apart, and a later answer agrees",
			[]string{list(item(idA, `"n":"a"`), item(idB, `"n":"b"`)), one(idA)},
			[]string{list(item(idY, `"n":"b"`), item(idX, `"n":"a"`)), one(idX)}, nil,
		},
		{
			"the content tells them apart, and a later answer has the wrong id",
			[]string{list(item(idA, `"n":"a"`), item(idB, `"n":"b"`)), one(idA)},
			[]string{list(item(idY, `"n":"b"`), item(idX, `"n":"a"`)), one(idY)},
			map[string][]string{"": {`identity body /id: "` + idA + `", "` + idY + `"`}, "$.id": {`identity body /id: "` + idA + `", "` + idY + `"`}},
		},
		{
			"an earlier answer tells them apart",
			[]string{one(idA), list(item(idA, `"n":1`), item(idB, `"n":1`))},
			[]string{one(idX), list(item(idY, `"n":1`), item(idX, `"n":1`))}, nil,
		},
		{
			"one pair tells another apart",
			[]string{list(item(idA, `"n":"root"`), item(idB, `"up":"`+idA+`"`), item(idC, `"up":"`+idB+`"`))},
			[]string{list(item(idZ, `"up":"`+idY+`"`), item(idY, `"up":"`+idX+`"`), item(idX, `"n":"root"`))}, nil,
		},
		{
			"a wrong id in one member",
			[]string{one(idA), one(idB), list(item(idA, `"n":"a","by":"`+idA+`"`), item(idB, `"n":"b","by":"`+idA+`"`))},
			[]string{one(idX), one(idY), list(item(idY, `"n":"b","by":"`+idY+`"`), item(idX, `"n":"a","by":"`+idX+`"`))},
			map[string][]string{
				"":     {`identity body /a/1/by: "` + idA + `", "` + idY + `" in {"id":"1c8d2a7f-8b62-4d69-8e7c-3a2f9b8d5e22","n":"b","by":"0…`},
				"$.id": {`identity body /a/1/by: "` + idA + `", "` + idY + `" in $.id "` + idB + `"`},
			},
		},
		{
			"an element is lost",
			[]string{list(item(idA, `"n":"a"`), item(idB, `"n":"b"`), item(idC, `"n":"c"`)), one(idC)},
			[]string{list(item(idZ, `"n":"c"`), item(idX, `"n":"a"`)), one(idZ)},
			map[string][]string{"": {`element-missing body /a/1: {"id":"` + idB + `","n":"b"}, —`}, "$.id": {`element-missing body /a/1: {"id":"` + idB + `","n":"b"}, — in $.id "` + idB + `"`}},
		},
	} {
		for _, key := range []string{"", "$.id"} {
			t.Run(tc.name+" "+key, func(t *testing.T) {
				if diff := cmp.Diff(tc.want[key], loosely(listRules("$.a", key), tc.ref, tc.cand)); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// In every order, and in events and documents of any size, a list without order is the same list.
func TestAnyOrderOfALooseListIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 3000} {
		var ref, cand []string
		for i := range size {
			id := func(side int) string {
				return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", (i*7919+side*104729)*2654435761%(1<<32), i, side, i%4096, i*31+side)
			}
			rest := fmt.Sprintf(`"n":%d,"tags":["a","b%d"]`, i/2, i/2)
			ref = append(ref, fmt.Sprintf(`{"id":%q,%s}`, id(1), rest))
			cand = append(cand, fmt.Sprintf(`{%s,"id":%q}`, rest, id(2)))
		}
		r.Shuffle(size, func(i, j int) { cand[i], cand[j] = cand[j], cand[i] })
		for _, key := range []string{"", "$.id"} {
			rules := listRules("$.a", key)
			if got := loosely(rules, []string{`{"a":` + list(ref) + `}`}, []string{`{"a":` + list(cand) + `}`}); got != nil {
				t.Fatalf("%d elements, key %q: %q", size, key, got)
			}
			if size < 2 {
				continue
			}
			lost := slices.Delete(slices.Clone(cand), size/2, size/2+1)
			if got := loosely(rules, []string{`{"a":` + list(ref) + `}`}, []string{`{"a":` + list(lost) + `}`}); len(got) != 1 || !strings.HasPrefix(got[0], "element-missing ") {
				t.Fatalf("one of %d elements is lost, key %q: %q", size, key, got)
			}
		}
	}
}

func TestALooseListInAnEvent(t *testing.T) {
	ref := newSide("ref").stream("bus", `a {"a":[1,2]}`, `b {"a":[3,4]}`)
	cand := newSide("cand").stream("bus", `a {"a":[2,1]}`, `b {"a":[3,5]}`)
	got := compared(ref, cand, listRules("$.a", ""))
	var out []string
	for _, d := range got.Differences {
		out = append(out, fmt.Sprintf("%s %s", d.Kind, d.At))
	}
	if diff := cmp.Diff([]string{"element-missing event 2 (b) data /a/1", "element-extra event 2 (b) data /a/1"}, out); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if !got.Applied["here"] {
		t.Error("the rule did not apply")
	}
}

// The fingerprint of a difference must not depend on the order of the reference.
func TestTheFingerprintOfALooseElement(t *testing.T) {
	for _, key := range []string{"", "$.id"} {
		print := func(ref, cand string) string {
			got := compared(newSide("ref").answers(ref), newSide("cand").answers(cand), listRules("$.a", key)).Differences
			if len(got) != 1 {
				t.Fatalf("%d differences, want 1", len(got))
			}
			return got[0].Fingerprint + " " + got[0].At.InEveryRun()
		}
		one := print(`{"a":[{"id":"p","n":1,"m":0},{"id":"q","n":1,"m":0}]}`, `{"a":[{"id":"p","n":1,"m":0},{"id":"q","n":2,"m":0}]}`)
		other := print(`{"a":[{"id":"q","n":1,"m":0},{"id":"p","n":1,"m":0}]}`, `{"a":[{"id":"p","n":1,"m":0},{"id":"q","n":2,"m":0}]}`)
		if one != other {
			t.Errorf("with key %q: %s in one order, %s in the other", key, one, other)
		}
	}
}

func TestARuleForAListAppliesOnlyToLists(t *testing.T) {
	got := compared(newSide("ref").answers(`{"a":{"b":1}}`), newSide("cand").answers(`{"a":{"b":1}}`), listRules("$.a", ""))
	if got.Applied["here"] {
		t.Error("a rule for a list applied to an object")
	}
}

// Requests to upstreams have their own rules.
func TestALooseListInARequestToAnUpstream(t *testing.T) {
	const want = 1 // difference, at the list without a rule
	ref, cand := newSide("ref"), newSide("cand")
	ref.t.Upstream = []transcript.Step{{ID: "llm.chat", Exchanges: []*transcript.Exchange{asks(`{"a":[1,2],"b":[1,2]}`)}}}
	cand.t.Upstream = []transcript.Step{{ID: "llm.chat", Exchanges: []*transcript.Exchange{asks(`{"a":[2,1],"b":[2,1]}`)}}}
	rules := &Rules{Stubs: map[string]Step{"llm": {Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.List, Rule: "here"}}}}}
	if got := compared(ref, cand, rules); len(got.Differences) != want || !got.Applied["here"] {
		t.Errorf("%v, applied %v", got.Differences, got.Applied)
	}
}
