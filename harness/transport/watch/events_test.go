package watch

import (
	"strconv"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestEventsOfOneMomentStayWhileMoreAreAdded(t *testing.T) {
	var all events
	var moments []events
	if got := all.all(); got != nil {
		t.Errorf("no events: %v, want nil", got)
	}
	for i := range 3*segment + 1 {
		if at := all.add(&transcript.Event{Data: strconv.Itoa(i)}); at != i {
			t.Fatalf("event %d has the index %d", i, at)
		}
		moments = append(moments, all)
	}
	for i, m := range moments {
		if copied := m.all(); m.len() != i+1 || len(copied) != i+1 || copied[i].Data != strconv.Itoa(i) || m.at(i).Data != strconv.Itoa(i) {
			t.Errorf("after event %d: %d events, of which %d are copied, and the last is %q", i, m.len(), len(copied), m.at(i).Data)
		}
		if first := m.at(0).Data; first != "0" {
			t.Errorf("after event %d, the first is %q", i, first)
		}
	}
}
