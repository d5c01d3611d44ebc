package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Members with generated names are paired by their values, in whatever order the server writes them.
func TestMembersUnderGeneratedNamesHaveNoOrder(t *testing.T) {
	const a, b, x, y = uuidA, uuidB, uuidX, uuidY
	member := func(id, rest string) string { return fmt.Sprintf(`"%s":{%s}`, id, strings.ReplaceAll(rest, "•", id)) }
	object := func(members ...string) string { return "{" + strings.Join(members, ",") + "}" }
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"in the same order", []string{object(member(a, `"n":1`), member(b, `"n":2`))}, []string{object(member(x, `"n":1`), member(y, `"n":2`))}, nil},
		{"in another order", []string{object(member(a, `"n":1`), member(b, `"n":2`))}, []string{object(member(y, `"n":2`), member(x, `"n":1`))}, nil},
		{"with the id in the value", []string{object(member(a, `"id":"•","n":1`), member(b, `"id":"•","n":2`))}, []string{object(member(y, `"id":"•","n":2`), member(x, `"id":"•","n":1`))}, nil},
		{"bound before", []string{`["` + a + `","` + b + `"]`, object(member(a, `"n":1`), member(b, `"n":1`))}, []string{`["` + x + `","` + y + `"]`, object(member(y, `"n":1`), member(x, `"n":1`))}, nil},
		{"bound by a value before", []string{object(member(a, `"next":"`+b+`"`), member(b, `"next":null`))}, []string{object(member(y, `"next":null`), member(x, `"next":"`+y+`"`))}, nil},
		{"beside plain ones", []string{`{"k":1,"` + a + `":1,"` + b + `":2}`}, []string{`{"` + y + `":2,"` + x + `":1,"k":1}`}, nil},

		{"other values", []string{object(member(a, `"n":1`), member(b, `"n":2`))}, []string{object(member(y, `"n":2`), member(x, `"n":3`))}, []string{"value body /" + a + "/n"}},
		{"values that are swapped", []string{`["` + a + `","` + b + `"]`, object(member(a, `"n":1`), member(b, `"n":2`))}, []string{`["` + x + `","` + y + `"]`, object(member(y, `"n":1`), member(x, `"n":2`))}, []string{"value body /" + a + "/n", "value body /" + b + "/n"}},
		{"one that is missing", []string{object(member(a, `"n":1`), member(b, `"n":2`))}, []string{object(member(y, `"n":2`))}, []string{"field-missing body /" + a}},
		{"one that is another's", []string{`["` + a + `"]`, object(member(a, `"n":1`))}, []string{`["` + x + `"]`, object(member(y, `"n":1`))}, []string{"field-missing body /" + a, "field-extra body /" + y}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := kinds(compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), nil))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersUnderGeneratedNamesCanBeMany(t *testing.T) {
	const many = 3000
	object := func(target string, value func(i int) int) side {
		var out []string
		for i := range many {
			n := i
			if target == "cand" {
				n = many - 1 - i
			}
			out = append(out, fmt.Sprintf(`"%08x-0000-4000-8000-%012x":%d`, len(target)*1000+n, n, value(n)))
		}
		return newSide(target).answers("{" + strings.Join(out, ",") + "}")
	}
	if got := kinds(compared(object("ref", func(i int) int { return i }), object("cand", func(i int) int { return i }), nil)); got != nil {
		t.Errorf("of %d, %d differ", many, len(got))
	}
	if got := kinds(compared(object("ref", func(int) int { return 1 }), object("cand", func(int) int { return 1 }), nil)); got != nil {
		t.Errorf("of %d that are alike, %d differ", many, len(got))
	}
}

// An id that looks like a word is also recognised as the name of a member, if the other side's name is an id.
func TestMembersUnderIDsThatLookLikeWords(t *testing.T) {
	const sure, words, other = "V1StGXR8_Z5jdHi6B-myT", "VxStGXRk_ZfjdHilB-myT", "maxConcurrentSessions"
	for _, tc := range []struct {
		name, ref, cand string
		want            []string
	}{
		{"without a digit", `{"` + words + `":1}`, `{"` + sure + `":1}`, nil},
		{"another value", `{"` + words + `":1}`, `{"` + sure + `":2}`, []string{"value body /" + words}},
		{"two of them", `{"` + words + `":1,"K9StGXR8_Z5jdHi6B-myA":2}`, `{"Q9StGXR8_Z5jdHi6B-myQ":2,"` + sure + `":1}`, nil},
		{"behind a prefix", `{"evt_MOnWUqIGOSZFAbdKNnnNIHwveBx":1}`, `{"evt_3MOnWR9y6n21vcEHenzD78Tg2Vd":1}`, nil},
		{"behind a prefix, by their values", `{"evt_3MOnWUqIGOSZFAbdKNnnNIHwveB":1,"evt_3MOnWUqIGOSZFAbdKNnnNIHwveC":2}`, `{"evt_3NOnWUqIGOSZFAbdKNnnNIHwveB":2,"evt_3OOnWUqIGOSZFAbdKNnnNIHwveC":1}`, nil},
		{"behind another prefix", `{"evt_MOnWUqIGOSZFAbdKNnnNIHwveBx":1}`, `{"ent_3MOnWR9y6n21vcEHenzD78Tg2Vd":1}`, []string{"field-missing body /evt_MOnWUqIGOSZFAbdKNnnNIHwveBx", "field-extra body /ent_3MOnWR9y6n21vcEHenzD78Tg2Vd"}},
		{"two words", `{"max_simultaneous":1}`, `{"max_concurrently":1}`, []string{"field-missing body /max_simultaneous", "field-extra body /max_concurrently"}},
		{"two names", `{"` + other + `":1}`, `{"minConcurrentSessions":1}`, []string{"field-missing body /" + other, "field-extra body /minConcurrentSessions"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, kinds(compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), nil))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if len(tc.want) == 0 {
				if got := kinds(compared(newSide("ref").answers(tc.cand), newSide("cand").answers(tc.ref), nil)); got != nil {
					t.Errorf("the other way round: %v", got)
				}
			}
		})
	}
}
