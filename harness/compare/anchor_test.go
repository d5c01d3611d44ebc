package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
)

func TestNothingPassesAnAnchor(t *testing.T) {
	const (
		a1, b1, a2, b2 = `a {"k":1}`, `b {"k":1}`, `a {"k":2}`, `b {"k":2}`
		done, over     = `done {}`, `over {}`
	)
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
		says      string
	}{
		{"another key on the same side", []string{a1, a2, done, b1, b2}, []string{a2, a1, done, b2, b1}, nil, ""},
		{"one comes too late", []string{a1, a2, done, b1}, []string{a1, done, a2, b1}, []string{"event-order event 3 (a)"}, "a comes at a different place in the sequence, across done"},
		{"one comes too early", []string{a1, done, a2, b1}, []string{a1, a2, done, b1}, []string{"event-order event 2 (a)"}, "a comes at a different place in the sequence, across done"},
		{"one passes two", []string{a1, done, over, b1}, []string{done, over, a1, b1}, []string{"event-order event 3 (a)"}, "across done"},
		{"one passes others of its key as well", []string{a1, done, b1}, []string{done, b1, a1}, []string{"event-order event 3 (a)"}, "across done"},
		{"the anchor comes late", []string{a1, done, b1, a2}, []string{a1, b1, a2, done}, []string{"event-order event 4 (done)"}, "2 events are on the other side of it; the first is event 3 (b)"},
		{"one anchor passes another", []string{a1, done, over}, []string{a1, over, done}, []string{"event-order event 3 (done)"}, "at a different place"},
		{"an anchor is lost", []string{a1, done, b1, over, a2}, []string{a1, b1, over, a2}, []string{"event-missing event 2 (done)"}, ""},
		{"an anchor is called something else", []string{a1, `done {"x":1}`, b1}, []string{a1, `gone {"x":1}`, b1}, []string{"event-name event 2 (done)"}, ""},
		{"an event is called what an anchor is", []string{a1, `gone {"x":1}`, b1}, []string{a1, `done {"x":1}`, b1}, []string{"event-name event 2 (gone)"}, ""},
		{"one is lost in a key, and one like it comes in another", []string{`a {"k":1}`, `b {"k":1}`, `a {"k":2}`, done}, []string{`a {"k":1}`, `a {"k":2}`, `b {"k":2}`, done}, []string{"event-missing event 2 (b)", "event-extra event 3 (b)"}, ""},
		{"two streams of one text", []string{`d {"k":1,"t":"a"}`, done, `d {"k":1,"t":"b"}`}, []string{`d {"k":1,"t":"ab"}`, done}, []string{"event-missing event 3 (d)", "value event 1 (d) data /t"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {
				OrderWithin: "$.k", Anchors: []string{"done", "over"}, Collapse: []streamdiff.Collapse{{Event: "d", Text: "$.t"}},
			}}}
			got := compared(newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...), rules)
			if diff := cmp.Diff(sortedTexts(tc.want), sortedTexts(kinds(got))); diff != "" {
				t.Fatalf("differences (-want +got):\n%s", diff)
			}
			if len(got.Differences) > 0 && !strings.Contains(got.Differences[0].Text(), tc.says) {
				t.Errorf("said: %s", got.Differences[0].Text())
			}
			if !got.Applied[streamdiff.AnchorApplied("bus", "done")] {
				t.Errorf("applied: %v", got.Applied)
			}
		})
	}
}
