package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What a target waited for a processor makes it late by so much, while it waited, and by no more.
func TestATargetWithoutAProcessorMayBeLate(t *testing.T) {
	const ms = time.Millisecond
	rules := &Rules{Streams: map[string]Stream{"bus": {
		Heartbeat: &Heartbeat{Event: "ping", Every: time.Second, First: time.Second, Tolerance: 200 * ms}, Gap: &Gap{Max: 500 * ms},
	}}}
	meanwhile := []transcript.Starvation{{From: 700 * ms, Until: 1900 * ms, For: 800 * ms}}
	before, after := []transcript.Starvation{{From: -900 * ms, Until: -10 * ms, For: 800 * ms}}, []transcript.Starvation{{From: 9000 * ms, Until: 9500 * ms, For: 500 * ms}}
	for _, tc := range []struct {
		name       string
		ping, came time.Duration
		starved    []transcript.Starvation
		want       []string
	}{
		{"in time", 1200 * ms, 1000 * ms, nil, nil},
		{"late, and it did not wait", 2000 * ms, 1900 * ms, nil, []string{"shortfall heartbeat-late", "event-gap event 1 (done) gap"}},
		{"late, and it waited before", 2000 * ms, 1900 * ms, before, []string{"shortfall heartbeat-late", "event-gap event 1 (done) gap"}},
		{"late, and it waited afterwards", 2000 * ms, 1900 * ms, after, []string{"shortfall heartbeat-late", "event-gap event 1 (done) gap"}},
		{"late by what it waited", 2000 * ms, 1800 * ms, meanwhile, nil},
		{"late by more", 2100 * ms, 1900 * ms, meanwhile, []string{"shortfall heartbeat-late", "event-gap event 1 (done) gap"}},
	} {
		side := func(name string) side {
			s := newSide(name)
			s.answers("1")
			s.t.Steps[0].Exchanges[0].Sent = 500 * ms
			s.stream("bus", "ping {}", "done {}")
			s.t.Streams[0].Events[0].At, s.t.Streams[0].Events[1].At, s.t.Streams[0].Until = 1000*ms, 600*ms, 1000*ms
			return s
		}
		ref, cand := side("ref"), side("cand")
		st := cand.t.Streams[0]
		st.Events[0].At, st.Events[1].At, st.Until, cand.t.Starved = tc.ping, tc.came, tc.ping, tc.starved
		var got []string
		for _, f := range Shortfalls(cand.t, rules) {
			got = append(got, "shortfall "+string(f.Kind))
		}
		got = append(got, kinds(compared(ref, cand, rules))...)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
