package verdict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestAStreamWhoseOnlySelectsNothingIsUnknown(t *testing.T) {
	const blind = "step 1: no event on feed matched its `only`, so none of its events were compared: correct the pattern, or expect no events with `never`"
	only := func(s side) { s.Streams[0].Only = true }
	for _, tc := range []struct {
		name    string
		events  []string // of the reference
		change  func(side)
		verdict Verdict
		reasons []string
	}{
		{"nothing", nil, only, Unknown, []string{blind}},
		{"nothing on one side", []string{"made {}"}, only, Differ, nil},
		{"nothing, as never says", nil, func(s side) {
			only(s)
			s.Windows = []transcript.Window{{Stream: "feed", Step: "1", To: time.Second}}
		}, Match, nil},
		{"nothing of streams that end", nil, func(s side) {
			only(s)
			s.Streams[0].Ended = transcript.EndedByServer
		}, Match, nil},
		{"no events, and no only", nil, func(side) {}, Match, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref").stream(tc.events...), newSide("cand").stream()
			tc.change(ref)
			tc.change(cand)
			got := judged(t, ref, cand)
			if got.Verdict != tc.verdict {
				t.Errorf("the verdict is %s, want %s", got.Verdict, tc.verdict)
			}
			if diff := cmp.Diff(tc.reasons, reasons(got)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}
