package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/internal/docgen"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

var pieces = streamdiff.Rules{
	OrderWithin: "$.k",
	Collapse:    []streamdiff.Collapse{{Event: "delta", By: []string{"$.id", "$.type"}, Text: "$.delta"}},
}

// delta returns an event with a piece of text.
func delta(text string) string {
	return `delta {"k":1,"id":"m","type":"text","delta":` + diff.Quoted(text) + `}`
}

func TestAStreamedTextMayBeCutInAnyWay(t *testing.T) {
	const joined = "pieces of texts, which are compared as a whole"
	other := func(k int) string { return fmt.Sprintf(`other {"k":%d}`, k) }
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
		joined    int
	}{
		{"in other places", []string{delta("Hel"), delta("lo")}, []string{delta("H"), delta("ell"), delta("o")}, nil, 3},
		{"on one side only", []string{delta("Hello")}, []string{delta("Hel"), delta(""), delta("lo")}, nil, 3},
		{"on neither side", []string{delta("Hello")}, []string{delta("Hello")}, nil, 0},
		{"another text", []string{other(1), delta("Hel"), delta("lo")}, []string{other(1), delta("H"), delta("allo")}, []string{"value event 2 (delta) data /delta"}, 2},
		{"another text, and what follows", []string{delta("a"), delta("b"), other(1)}, []string{delta("a"), delta("c"), other(1)}, []string{"value event 1 (delta) data /delta"}, 2},
		{"the order of pieces", []string{delta("a"), delta("b")}, []string{delta("b"), delta("a")}, []string{"value event 1 (delta) data /delta"}, 2},
		{"a piece twice", []string{delta("a"), delta("b")}, []string{delta("a"), delta("b"), delta("b")}, []string{"value event 1 (delta) data /delta"}, 3},
		{"a piece is lost", []string{delta("a"), delta("b")}, []string{delta("a")}, []string{"value event 1 (delta) data /delta"}, 2},
		{"all are lost", []string{other(1), delta("a"), delta("b")}, []string{other(1)}, []string{"event-missing event 2 (delta)"}, 2},
		{"something between them", []string{delta("a"), other(1), delta("b")}, []string{delta("a"), delta("b"), other(1)}, []string{"event-missing event 3 (delta)", "value event 1 (delta) data /delta"}, 2},
		{"another key between them", []string{delta("a"), other(2), delta("b")}, []string{other(2), delta("ab")}, nil, 2},
		{"an id across two pieces", []string{delta("see ses_0a1b2c"), delta("3d4e5f")}, []string{delta("see "), delta("ses_ffeeddcc1122")}, nil, 2},
		{
			"another id across two pieces", []string{`a {"k":1,"x":"ses_0a1b2c3d4e5f"}`, delta("ses_0a1b2c"), delta("3d4e5f")},
			[]string{`a {"k":1,"x":"ses_ffeeddcc1122"}`, delta("ses_ffeedd"), delta("cc9999")}, []string{"identity event 2 (delta) data /delta"}, 2,
		},
		{
			"another member differs in one piece", []string{delta("a"), delta("b")}, []string{delta("a"), `delta {"k":1,"id":"m","type":"text","delta":"b","x":1}`},
			[]string{"event-extra event 2 (delta)", "value event 1 (delta) data /delta"}, 2,
		},
		{
			"what they have in common is missing", []string{`delta {"k":1,"id":"m","delta":"a"}`, `delta {"k":1,"id":"m","delta":"b"}`},
			[]string{`delta {"k":1,"id":"m","delta":"ab"}`}, []string{"event-missing event 2 (delta)", "value event 1 (delta) data /delta"}, 0,
		},
		{
			"a text that is none", []string{`delta {"k":1,"id":"m","type":"text","delta":1}`, `delta {"k":1,"id":"m","type":"text","delta":2}`},
			[]string{`delta {"k":1,"id":"m","type":"text","delta":12}`}, []string{"event-missing event 2 (delta)", "value event 1 (delta) data /delta"}, 0,
		},
		{
			"half a character", []string{delta("é")}, []string{"delta {\"k\":1,\"id\":\"m\",\"type\":\"text\",\"delta\":\"\xc3\"}", "delta {\"k\":1,\"id\":\"m\",\"type\":\"text\",\"delta\":\"\xa9\"}"},
			[]string{"event-doubled event 2 (delta)", "value event 1 (delta) data /delta"}, 0,
		},
		{
			"a character that is cut in two", []string{delta("x😀y")},
			[]string{`delta {"k":1,"id":"m","type":"text","delta":"x\ud83d"}`, `delta {"k":1,"id":"m","type":"text","delta":"\ude00y"}`}, nil, 2,
		},
		{
			"what replaces a character that is cut in two", []string{`delta {"k":1,"id":"m","type":"text","delta":"x\ud83d"}`, `delta {"k":1,"id":"m","type":"text","delta":"\ude00y"}`},
			[]string{delta("x\ufffd"), delta("\ufffdy")}, []string{"value event 1 (delta) data /delta"}, 2,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Streams: map[string]streamdiff.Rules{"GET /bus": pieces}}
			got := compared(newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...), rules)
			if diff := cmp.Diff(sortedTexts(tc.want), sortedTexts(kinds(got))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if got.NotCompared[joined] != tc.joined || got.Applied[streamdiff.CollapseApplied("GET /bus", "delta")] != (tc.joined > 0) {
				t.Errorf("not compared %v, applied %v; want %d pieces", got.NotCompared, got.Applied, tc.joined)
			}
		})
	}
}

func TestADifferenceOutsideOfTheDataEndsAText(t *testing.T) {
	exact := pieces
	exact.Exact = true
	for name, change := range map[string]func(*transcript.Event){
		"event field": func(ev *transcript.Event) { ev.Type = "delta" },
		"id":          func(ev *transcript.Event) { ev.ID = "7" },
		"retry":       func(ev *transcript.Event) { ev.Retry = "7" },
		"framing":     func(ev *transcript.Event) { ev.Framing = "data:•\n\n" },
		"no data":     func(ev *transcript.Event) { ev.Undispatched, ev.Data = true, "" },
		"a comment":   func(ev *transcript.Event) { ev.Comment, ev.Name = true, "" },
	} {
		ref, cand := newSide("ref").stream("bus", delta("ab")), newSide("cand").stream("bus", delta("a"), delta("b"))
		change(&cand.t.Streams[0].Events[1])
		if got := kinds(compared(ref, cand, &Rules{Streams: map[string]streamdiff.Rules{"bus": exact}})); len(got) == 0 {
			t.Errorf("%s: nothing is told", name)
		}
	}
}

// It makes no difference where a text is split, and which events with other keys come between its pieces. A different
// text is reported once, at its first piece.
func TestHowATextIsCutIsNoDifference(t *testing.T) {
	cut := func(t *rapid.T, text string) []string {
		var out []string
		runes := []rune(text)
		for len(runes) > 0 {
			n := rapid.IntRange(0, len(runes)).Draw(t, "piece")
			out = append(out, delta(string(runes[:n])))
			runes = runes[n:]
		}
		return out
	}
	interleaved := func(t *rapid.T, events []string, others int) []string {
		for i := range others {
			at := rapid.IntRange(0, len(events)).Draw(t, "at")
			if i > 0 {
				at = rapid.IntRange(slices.Index(events, fmt.Sprintf(`other {"k":2,"n":%d}`, i-1))+1, len(events)).Draw(t, "later")
			}
			events = slices.Insert(slices.Clone(events), at, fmt.Sprintf(`other {"k":2,"n":%d}`, i))
		}
		return events
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z é✓]{1,9} \$\{0\} [a-z ]{0,9}( \$\{1\})?`).Draw(t, "text")
		ref, cand := docgen.Story{text}.In(0)[0], docgen.Story{text}.In(1)[0]
		others := rapid.IntRange(0, 3).Draw(t, "others")
		var want []string
		changed := rapid.Bool().Draw(t, "changed")
		if changed {
			cand = "!" + cand
		}
		refs, cands := interleaved(t, cut(t, ref), others), interleaved(t, cut(t, cand), others)
		if changed {
			first := slices.IndexFunc(refs, func(e string) bool { return strings.HasPrefix(e, "delta") })
			want = []string{fmt.Sprintf("value event %d (delta) data /delta", first+1)}
		}
		got := compared(newSide("ref").stream("bus", refs...), newSide("cand").stream("bus", cands...), &Rules{Streams: map[string]streamdiff.Rules{"bus": pieces}})
		if diff := cmp.Diff(want, kinds(got)); diff != "" {
			t.Fatalf("%q against %q (-want +got):\n%s", refs, cands, diff)
		}
	})
}
