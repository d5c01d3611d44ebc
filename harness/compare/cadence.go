package compare

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The beats of a stream are due at moments that a rule says. Each is held against its own: a server that was kept waiting may
// make up for the beats it has missed, all at once, but none may come before it is due, so that there are never too many.

// cadence returns the first beat that is out of time. What the harness itself was kept waiting comes on top of the tolerance:
// by so much it may have seen the beat, or the opening, too late.
func cadence(s *transcript.Stream, h *Heartbeat, stalled time.Duration) (Shortfall, bool) {
	n, tolerance := 0, h.Tolerance+stalled
	for i := range s.Events {
		if !h.beats(&s.Events[i]) {
			continue
		}
		n++
		due, came := h.due(n), s.Events[i].At-s.At
		f := Shortfall{
			Event: i, Place: "heartbeat " + strconv.Itoa(n),
			Want: fmt.Sprintf("%s after the opening, give or take %s", due, h.Tolerance) + granted(stalled),
			Got:  came.Round(time.Millisecond).String(),
		}
		switch {
		case came > due+tolerance:
			f.Kind, f.Text = HeartbeatLate, "a heartbeat came late"
			return f, true
		case came < due-tolerance:
			f.Kind, f.Text = HeartbeatEarly, "a heartbeat came early"
			return f, true
		}
	}
	return missing(s, h, stalled, n)
}

// missing tells of the beats that did not come, of which n did.
func missing(s *transcript.Stream, h *Heartbeat, stalled time.Duration, n int) (Shortfall, bool) {
	open := s.Until - s.At
	wanted := 0
	if overdue := open - h.First - h.Tolerance - stalled; overdue >= 0 {
		wanted = 1 + int(overdue/h.Every)
	}
	if n >= wanted {
		return Shortfall{}, false
	}
	return Shortfall{
		Kind: HeartbeatMissing, Event: -1, Place: "heartbeat " + strconv.Itoa(n+1),
		Want: fmt.Sprintf("%d in %s", wanted, open.Round(time.Millisecond)) + granted(stalled), Got: strconv.Itoa(n),
		Text: "a heartbeat did not come",
	}, true
}
