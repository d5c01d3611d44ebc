package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
)

func TestHeartbeatsAreCountedApart(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}}
	s := newSide("ref").stream("bus", "ping ", "a 1", ": x", "ping ", "b 2")
	want := []string{"heartbeat 1", "event 1", "event 2", "heartbeat 2", "event 3"}
	if diff := cmp.Diff(want, rules.Labels(s.t.Streams[0])); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	s.t.Streams[0].Name = "other"
	want = []string{"event 1", "event 2", "event 3", "event 4", "event 5"}
	if diff := cmp.Diff(want, rules.Labels(s.t.Streams[0])); diff != "" {
		t.Errorf("labels without a rule (-want +got):\n%s", diff)
	}
}

func TestHowManyHeartbeatsCameDoesNotMoveADifference(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}}
	ref := newSide("ref").stream("bus", "ping ", "ping ", "a 1", "b 2", "c 3", "d 4")
	cand := newSide("cand").stream("bus", "a 9", "ping ", "c 3", "d 4", "d 4")
	got := compared(ref, cand, rules)
	want := []string{"body event 1 (a) data", "event-missing event 2 (b)", "event-doubled event 4 (d)"}
	if diff := cmp.Diff(want, kinds(got)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if at := got.Differences[0].Events; at != [2]int{2, 0} {
		t.Errorf("the events are at %v, want their places in the recordings", at)
	}
}

func TestWhatHeartbeatsSayIsCompared(t *testing.T) {
	pings, comments := &streamdiff.Heartbeat{Event: "ping"}, &streamdiff.Heartbeat{Same: true}
	for _, tc := range []struct {
		name      string
		rule      *streamdiff.Heartbeat
		ref, cand []string
		want      []string
	}{
		{"the same", pings, []string{"ping {}", "ping {}"}, []string{"ping {}"}, nil},
		{"something else", pings, []string{"ping {}"}, []string{"ping {}", `ping {"a":1}`, `ping {"a":1}`}, []string{"heartbeat heartbeat 2 (ping)"}},
		{"one of several", pings, []string{"ping {}", `ping {"a":"b"}`}, []string{`ping {"a":"b"}`}, nil},
		{"a number that counts", pings, []string{`ping {"n":1}`}, []string{`ping {"n":1}`, `ping {"n":2}`}, nil},
		{"a time", pings, []string{`ping {"at":"2026-03-01T12:00:00Z"}`}, []string{`ping {"at":"2026-03-01T12:00:07.5Z"}`}, nil},
		{"a text with an id", pings, []string{"ping for uref00000001"}, []string{"ping for ucand0000002"}, nil},
		{"text behind it", pings, []string{"ping {}"}, []string{"ping {}x"}, []string{"heartbeat heartbeat 1 (ping)"}},
		{"none on one side", pings, nil, []string{"ping {}"}, nil},
		{"comments, whatever they say", &streamdiff.Heartbeat{}, []string{": x"}, []string{": y"}, nil},
		{"comments that are the same", comments, []string{": x 1"}, []string{": x 2", ": x 3"}, nil},
		{"comments that are not", comments, []string{": x"}, []string{": y"}, []string{"heartbeat heartbeat 1 (a comment)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: tc.rule}}}
			got := compared(newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHowHeartbeatsAreWrittenCountsWhereFramingIsExact(t *testing.T) {
	ref, cand := newSide("ref").stream("bus", "ping {}"), newSide("cand").stream("bus", "ping {}")
	cand.t.Streams[0].Events[0].Framing = "data:•\n\n"
	for exact, want := range map[bool][]string{false: nil, true: {"heartbeat heartbeat 1 (ping)"}} {
		rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Exact: exact, Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}}
		if diff := cmp.Diff(want, kinds(compared(ref, cand, rules))); diff != "" {
			t.Errorf("exact: %t (-want +got):\n%s", exact, diff)
		}
	}
}

// A heartbeat may be later by as long as the harness itself was kept waiting, and no longer.
func TestAPausedMachineMakesHeartbeatsLate(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping", Every: time.Second, First: time.Second, Tolerance: 200 * time.Millisecond}}}}
	beats := func(first time.Duration) side {
		s := newSide("cand").stream("bus", "ping {}")
		s.t.Streams[0].Events[0].At, s.t.Streams[0].Until = first, first
		return s
	}
	fingerprints := map[string]bool{}
	for _, tc := range []struct {
		first, stalled time.Duration
		want           string
	}{
		{1200 * time.Millisecond, 0, ""},
		{1500 * time.Millisecond, 0, "heartbeat-late: 1s after the opening, give or take 200ms"},
		{1500 * time.Millisecond, 300 * time.Millisecond, ""},
		{1600 * time.Millisecond, 300 * time.Millisecond, "heartbeat-late: 1s after the opening, give or take 200ms; plus up to 300ms, because this machine stalled that long"},
		{600 * time.Millisecond, 300 * time.Millisecond, ""},
		{400 * time.Millisecond, 300 * time.Millisecond, "heartbeat-early: 1s after the opening, give or take 200ms; plus up to 300ms, because this machine stalled that long"},
	} {
		s := beats(tc.first)
		s.t.Stalled = tc.stalled
		got := ""
		for _, f := range AllUnmet(nil, s.t, rules) {
			got = string(f.Kind) + ": " + f.Want
			if f.Kind == HeartbeatLate {
				fingerprints[f.Fingerprint] = true
			}
		}
		if got != tc.want {
			t.Errorf("%s after the opening, stalled for %s: %q, want %q", tc.first, tc.stalled, got, tc.want)
		}
	}
	if len(fingerprints) != 1 {
		t.Errorf("%d fingerprints of one shortfall", len(fingerprints))
	}
}
