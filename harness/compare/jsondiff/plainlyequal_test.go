package jsondiff

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/internal/docgen"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Skipping equal values must give the same differences, in the same order, and the same bindings as comparing every
// value.
func TestShortcutsFindWhatAFullComparisonFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := docgen.Stories.Draw(t, "story")
		other := docgen.Story{}
		large := rapid.Bool().Draw(t, "large")
		for i, document := range s {
			changed := edited(t, document)
			if large { // large enough for its parts to have sums
				s[i] = docgen.Enlarged(document, document)
				changed = docgen.Enlarged(changed, edited(t, document))
			}
			other = append(other, changed)
		}
		ref, cand := s.In(1), other.In(rapid.IntRange(1, 2).Draw(t, "world"))
		want := lookedAt(t, ref, cand, Parse, true)
		for name, read := range map[string]func(Content) (*jsontree.Node, error){"trees": Parse, "summaries": summarize} {
			if diff := cmp.Diff(want, lookedAt(t, ref, cand, read, false)); diff != "" {
				t.Fatalf("%s, %q and %q (-all looked at +some passed over):\n%s", name, ref, cand, diff)
			}
		}
	})
}

func summarize(c Content) (*jsontree.Node, error) {
	if root, ok := jsontree.Summarize(c.Data, shapeSkeleton); ok {
		return root, nil
	}
	return Parse(c)
}

// A failer is a *testing.T or a *rapid.T.
type failer interface {
	Fatal(...any)
	Errorf(string, ...any)
}

// lookedAt compares two stories, document by document. With all, a rule for a place that does not exist makes sure that
// nothing is skipped, because with rules the place of a value matters.
func lookedAt(t failer, ref, cand []string, read func(Content) (*jsontree.Node, error), all bool) []string {
	var out []string
	seen := time.Unix(1765000000, 0)
	b := ident.New(&transcript.Transcript{Unique: "uref00000001"}, &transcript.Transcript{Unique: "ucand0000002"})
	for i := range ref {
		d := newDocuments(setting{ids: b, history: &history{}, place: ident.Place{Where: ident.InStep(fmt.Sprint(i), diff.At{}), Seen: [2]time.Time{seen, seen}}})
		d.in.report = func(d diff.Difference) { out = append(out, fmt.Sprint(d, d.At.Pointers, d.Fingerprint)) }
		var roots [2]*jsontree.Node
		for side, text := range [2]string{ref[i], cand[i]} {
			d.sums.whole[side].text = []byte(text)
			var err error
			if roots[side], err = read(Content{Data: d.sums.whole[side].text}); err != nil {
				t.Fatal(err)
			}
			if all {
				d.in.rules[side] = map[string]*Volatile{"/no such place": {Kind: Text}}
			}
		}
		d.node(nil, roots[0], roots[1])
	}
	for side := range 2 {
		out = append(out, fmt.Sprint(b.Vocabulary.Known(side)))
	}
	return append(out, fmt.Sprint(b.Assumed()))
}

// edited changes a few places of a document: values, names, the order of members and elements.
func edited(t *rapid.T, document string) string {
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		e := rapid.SampledFrom([][2]string{
			{"null", "1"}, {"true", "false"}, {"1", "1.0"}, {"${0}", "${1}"}, {"${2}", "lamp"}, {`"m1"`, `"m9"`}, {`"m0"`, `"${3}"`},
			{"[", "[null,"}, {"]", ",0]"}, {"-2.5", "-25e-1"}, {"{", `{"more":[],`}, {"${4}", "uref00000001"}, {"a", "b"},
		}).Draw(t, "edit")
		changed := strings.Replace(document, e[0], e[1], rapid.IntRange(1, 2).Draw(t, "times"))
		if _, defects, err := jsontree.Parse([]byte(changed)); err == nil && len(defects) == 0 {
			document = changed
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "reversed") > 0 {
		return document
	}
	root, _, _ := jsontree.Parse([]byte(document))
	reverse(root)
	return root.String()
}

// reverse reverses the order of all members.
func reverse(n *jsontree.Node) {
	if n.Kind == jsontree.Object {
		slices.Reverse(n.Names)
		slices.Reverse(n.Items)
	}
	for _, item := range n.Items {
		reverse(item)
	}
}

// If the quick check accepted too little, the test above would prove nothing.
func TestEqualListsAreComparedInPairs(t *testing.T) {
	b := ident.New(&transcript.Transcript{}, &transcript.Transcript{})
	for _, tc := range []struct {
		ref, cand string
		want      bool
	}{
		{`[{"id":"ses_0a1b2c3d4e5f","n":1},["lamp",null]]`, `[{"n":1,"id":"ses_ffeeddcc1122"},["lamp",null]]`, true},
		{`[{"id":"ses_0a1b2c3d4e5f","n":1},2]`, `[{"id":"ses_0a1b2c3d4e5f","n":2},2]`, false},
		{`[{"id":"ses_0a1b2c3d4e5f"},2]`, `[{"id":"0198c1f2-7c1e-7000-8000-000000000001"},2]`, false},
		{`[{"a":1,"b":1},2]`, `[{"a":1,"c":1},2]`, false},
		{`[{"a":1,"b":1,"a":1},2]`, `[{"b":1,"a":1,"c":1},2]`, false},
		{`[1,2]`, `[1,2,3]`, false},
		{`[` + strings.Repeat("1,", maxPairwiseFirst) + `1]`, `[` + strings.Repeat("1,", maxPairwiseFirst) + `1]`, false}, // too many to look at
	} {
		d := newDocuments(setting{ids: b, history: &history{}})
		if got := (&pairwise{&d.sums, maxPairwiseFirst}).lists(nil, tree(t, tc.ref), tree(t, tc.cand)); got != tc.want {
			t.Errorf("%.60s and %.60s are equal in pairs: %t, want %t", tc.ref, tc.cand, got, tc.want)
		}
	}
}

func tree(t *testing.T, text string) *jsontree.Node {
	t.Helper()
	root, _, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}
