package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/internal/docgen"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
)

// Two things are active at the same time, and their generated ids occur only on the stream. The order of their events
// must not decide which of them are paired.
func TestNewConcurrentObjectsAreDistinguished(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"GET /bus": {
		OrderWithin: "$.k", Anchors: []string{"all"}, Collapse: []streamdiff.Collapse{{Event: "d", By: []string{"$.k"}, Text: "$.t"}},
	}}}
	// told returns a stream about two things: which one comes first, what each one says, in how many pieces, and what
	// an event says about them at the end.
	told := func(world int, first int, says [2]string, pieces int, last string) []string {
		var out []string
		event := func(n int, name, more string) string {
			return fmt.Sprintf(`%s {"k":"%s"%s}`, name, docgen.Value(0, world, n), more)
		}
		order := [2]int{first, 1 - first}
		for _, n := range order {
			out = append(out, event(n, "begun", ""))
		}
		for _, n := range order {
			text := says[n]
			for cut := (len(text) + pieces - 1) / max(pieces, 1); text != ""; text = text[min(cut, len(text)):] {
				out = append(out, event(n, "d", `,"t":`+diff.Quoted(text[:min(cut, len(text))])))
			}
		}
		for _, n := range order {
			out = append(out, event(n, "done", fmt.Sprintf(`,"part":"%s"`, docgen.Value(0, world, 10+n))))
		}
		if last != "" {
			out = append(out, fmt.Sprintf(last, docgen.Value(0, world, 10), docgen.Value(0, world, 11)))
		}
		return out
	}
	alike, apart := [2]string{"hello", "hello"}, [2]string{"the one", "the other"}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		differ    bool
	}{
		{"by their texts, cut otherwise", told(0, 0, apart, 2, ""), told(1, 1, apart, 3, ""), false},
		{"by what an anchor lists", told(0, 0, alike, 2, `all {"parts":["%s","%s"]}`), told(1, 1, alike, 3, `all {"parts":["%s","%s"]}`), false},
		{"by what another event lists", told(0, 0, alike, 2, `sum {"parts":["%s","%s"]}`), told(1, 1, alike, 3, `sum {"parts":["%s","%s"]}`), false},
		{"by nothing", told(0, 0, alike, 2, ""), told(1, 1, alike, 3, ""), false},
		{"and one says something else", told(0, 0, apart, 2, ""), told(1, 1, [2]string{"the one", "the others"}, 3, ""), true},
		{"and the list has them the wrong way round", told(0, 0, apart, 2, `all {"parts":["%s","%s"]}`), told(1, 1, apart, 3, `all {"parts":["%[2]s","%[1]s"]}`), true},
		{"and the list has one twice", told(0, 0, alike, 2, `all {"parts":["%s","%s"]}`), told(1, 1, alike, 3, `all {"parts":["%[1]s","%[1]s"]}%.0[2]s`), true},
	} {
		got := kinds(compared(newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...), rules))
		if tc.differ != (len(got) > 0) {
			t.Errorf("%s: differences %v\n%s\n\n%s", tc.name, got, strings.Join(tc.ref, "\n"), strings.Join(tc.cand, "\n"))
		}
	}
}

// A mistake in one of two texts is reported for that text only.
func TestAMistakeInOneOfTwoTextsIsFoundOnce(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"GET /bus": {OrderWithin: "$.k", Collapse: []streamdiff.Collapse{{Event: "d", By: []string{"$.k"}, Text: "$.t"}}}}}
	d := func(world, n int, text string) string {
		return fmt.Sprintf(`d {"k":"%s","t":%s}`, docgen.Value(0, world, n), diff.Quoted(text))
	}
	ref := newSide("ref").stream("bus", d(0, 1, "one "), d(0, 2, "an"), d(0, 2, "other"), d(0, 1, "more"))
	cand := newSide("cand").stream("bus", d(1, 2, "a"), d(1, 1, "one moRe"), d(1, 2, "nother"))
	got := kinds(compared(ref, cand, rules))
	if want := "value event 1 (d) data /t"; strings.Join(got, ", ") != want {
		t.Errorf("differences %v, want %s", got, want)
	}
}
