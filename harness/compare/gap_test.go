package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
)

func TestHowLongAnEventMayComeAfterItsRequest(t *testing.T) {
	const ms = time.Millisecond
	// told returns a side that sends requests and gets events at these times. The first request opens the stream.
	told := func(target string, requests, events []time.Duration) side {
		s := newSide(target)
		for range requests {
			s.answers("1")
		}
		for i, at := range requests {
			s.t.Steps[i].Exchanges[0].Sent = at
		}
		s.stream("bus", make([]string, len(events))...)
		for i, at := range events {
			ev := &s.t.Streams[0].Events[i]
			ev.Name, ev.At = "e", at
			if i%2 == 1 {
				ev.Name = "ping"
			}
		}
		return s
	}
	type times = []time.Duration
	for _, tc := range []struct {
		name                 string
		rule                 streamdiff.Gap
		refSent, refCame     times
		candSent, candCame   times
		want                 []string
		reference, candidate string
		says                 string
	}{
		{"in time", streamdiff.Gap{Max: 500 * ms}, times{0, 1000 * ms}, times{1300 * ms}, times{0, 2000 * ms}, times{2450 * ms}, nil, "", "", ""},
		{
			"late", streamdiff.Gap{Max: 500 * ms}, times{0, 1000 * ms}, times{1300 * ms}, times{0, 2000 * ms}, times{2550 * ms},
			[]string{"event-gap event 1 (e) gap"}, "300ms after step 2", "550ms after step 2", "the candidate's comes later than the 500ms that a rule allows",
		},
		{
			"late on both sides", streamdiff.Gap{Max: 200 * ms}, times{0}, times{1300 * ms}, times{0}, times{2550 * ms},
			[]string{"event-gap event 1 (e) gap"}, "1.3s after step 1", "2.55s after step 1", "the reference's and the candidate's comes later than the 200ms that a rule allows",
		},
		{
			"so late that another request is before it", streamdiff.Gap{Max: 500 * ms}, times{0, 100 * ms, 2000 * ms}, times{200 * ms}, times{0, 100 * ms, 2000 * ms}, times{2100 * ms},
			[]string{"event-gap event 1 (e) gap"}, "100ms after step 2", "2s after step 2", "the candidate's comes later than the 500ms that a rule allows",
		},
		{"on the other side of a request", streamdiff.Gap{Tolerance: 300 * ms}, times{0, 500 * ms}, times{490 * ms}, times{0, 500 * ms}, times{510 * ms}, nil, "", "", ""},
		{"near each other", streamdiff.Gap{Tolerance: 300 * ms}, times{0}, times{5000 * ms}, times{0}, times{4800 * ms}, nil, "", "", ""},
		{
			"far from each other", streamdiff.Gap{Tolerance: 300 * ms}, times{0}, times{5000 * ms}, times{0}, times{4600 * ms},
			[]string{"event-gap event 1 (e) gap"}, "5s after step 1", "4.6s after step 1", "the delays of the events differ by more than the 300ms that a rule allows",
		},
		{"heartbeats are exempt", streamdiff.Gap{Max: 500 * ms}, times{0}, times{0, 900 * ms}, times{0}, times{0, 2900 * ms}, nil, "", "", ""},
		{"before any request", streamdiff.Gap{Max: 500 * ms}, times{10 * ms}, times{0}, times{5 * ms}, times{0}, nil, "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Gap: &tc.rule, Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}}
			got := compared(told("ref", tc.refSent, tc.refCame), told("cand", tc.candSent, tc.candCame), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Fatalf("differences (-want +got):\n%s", diff)
			}
			for _, d := range got.Differences {
				if d.Ref.String() != tc.reference || d.Cand.String() != tc.candidate || d.Text() != tc.says {
					t.Errorf("said: %s, %s: %s", d.Ref.String(), d.Cand.String(), d.Text())
				}
			}
		})
	}
}
