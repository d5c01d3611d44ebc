package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeartbeatsAreCountedApart(t *testing.T) {
	rules := &Rules{Streams: map[string]Stream{"bus": {Heartbeat: &Heartbeat{Event: "ping"}}}}
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
	rules := &Rules{Streams: map[string]Stream{"bus": {Heartbeat: &Heartbeat{Event: "ping"}}}}
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
