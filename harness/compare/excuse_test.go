package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A target that waited for a processor may be late by as long as it waited at that time, and no longer.
func TestATargetWithoutAProcessorMayBeLate(t *testing.T) {
	const ms = time.Millisecond
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {
		Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: time.Second, First: time.Second, Tolerance: 200 * ms}, Gap: &streamdiff.Gap{Max: 500 * ms},
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
		for _, f := range AllUnmet(nil, cand.t, rules) {
			got = append(got, "shortfall "+string(f.Kind))
		}
		got = append(got, kinds(compared(ref, cand, rules))...)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// A heartbeat that the harness saw late, because it was kept waiting itself, is counted, but it is not a finding. A
// server that is late by itself is found, no matter how long the harness waited at another time.
func TestABeatThatTheHarnessSawLateIsCounted(t *testing.T) {
	const ms = time.Millisecond
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {
		Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: time.Second, First: time.Second, Tolerance: 200 * ms},
	}}}
	// The stream opens at 1 s, so the second beat is due at 3 s, and late from 3.2 s on.
	for _, tc := range []struct {
		name    string
		second  time.Duration // when the second heartbeat comes; 0: never
		until   time.Duration
		delayed []transcript.Starvation
		want    []string
		counted int
	}{
		{"in time", 3200 * ms, 3500 * ms, nil, nil, 0},
		{"late by itself", 3500 * ms, 3500 * ms, nil, []string{"heartbeat-late"}, 0},
		{"late, and the harness waited before it was due", 3500 * ms, 3500 * ms, []transcript.Starvation{{From: 1000 * ms, Until: 3000 * ms, For: 2000 * ms}}, []string{"heartbeat-late"}, 0},
		{"late, and the harness waited afterwards", 3500 * ms, 5000 * ms, []transcript.Starvation{{From: 3500 * ms, Until: 4900 * ms, For: 1400 * ms}}, []string{"heartbeat-late"}, 0},
		{"late by what the harness waited since", 3500 * ms, 3500 * ms, []transcript.Starvation{{From: 3150 * ms, Until: 3400 * ms, For: 240 * ms}, {From: 3400 * ms, Until: 3650 * ms, For: 240 * ms}}, nil, 1},
		{"late by more", 3500 * ms, 3500 * ms, []transcript.Starvation{{From: 3150 * ms, Until: 3400 * ms, For: 190 * ms}}, []string{"heartbeat-late"}, 0},
		{"missing", 0, 3500 * ms, nil, []string{"heartbeat-missing"}, 0},
		{"missing, and the harness waited since", 0, 3500 * ms, []transcript.Starvation{{From: 3100 * ms, Until: 3500 * ms, For: 350 * ms}}, nil, 1},
		{"missing, and the harness waited before", 0, 3500 * ms, []transcript.Starvation{{From: 1000 * ms, Until: 3200 * ms, For: 2000 * ms}}, []string{"heartbeat-missing"}, 0},
	} {
		beating := func(name string, second time.Duration) side {
			s := newSide(name)
			beats := []string{"ping {}", "ping {}"}
			if second == 0 {
				beats = beats[:1]
			}
			s.stream("bus", beats...)
			st := s.t.Streams[0]
			st.At, st.Until, st.Ended = 1000*ms, tc.until, transcript.EndedByClient
			st.Events[0].At = 2000 * ms
			if second > 0 {
				st.Events[1].At = second
			}
			return s
		}
		ref, cand := beating("ref", 3000*ms), beating("cand", tc.second)
		ref.t.Streams[0].Until = 3500 * ms
		cand.t.Delayed = tc.delayed
		var got []string
		for _, f := range AllUnmet(nil, cand.t, rules) {
			got = append(got, string(f.Kind))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if n := compared(ref, cand, rules).NotCompared[streamdiff.ExcusedBeats]; n != tc.counted {
			t.Errorf("%s: %d beats are excused, want %d", tc.name, n, tc.counted)
		}
	}
}
