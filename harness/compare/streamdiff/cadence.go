package streamdiff

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A rule says when the heartbeats of a stream are due. Each one is compared with its own due time. A server that was
// kept waiting may send all the heartbeats that it has missed at once. But none may come before it is due, so there are
// never too many.

// ExcusedBeats is why a heartbeat at the wrong time is not a finding.
const ExcusedBeats = "heartbeats that were out of time by no more than the machine was busy"

// What is wrong with an OffBeat.
const (
	BeatLate    = "late"
	BeatEarly   = "early"
	BeatMissing = "missing"
)

// An OffBeat is a heartbeat at the wrong time, or one that did not come.
type OffBeat struct {
	Kind  string
	Event int // -1 for one that did not come
	Place string
	Want  string
	Got   string
	Text  string // one sentence
}

// Cadence returns the first heartbeat at the wrong time; nil when there is none. Delays of the machine extend the
// tolerance. excused counts the heartbeats that needed that.
func Cadence(t *transcript.Transcript, s *transcript.Stream, h *Heartbeat) (f *OffBeat, excused int) {
	n := 0
	for i := range s.Events {
		if !h.Is(&s.Events[i]) {
			continue
		}
		n++
		due, came := h.due(n), s.Events[i].At-s.At
		stalled := t.MachineDelay(s.At, s.At+due, s.Events[i].At)
		f := &OffBeat{
			Event: i, Place: "heartbeat " + strconv.Itoa(n),
			Want: fmt.Sprintf("%s after the opening, give or take %s", due, h.Tolerance) + stallNote(stalled),
			Got:  came.Round(time.Millisecond).String(),
		}
		switch {
		case came > due+h.Tolerance+stalled:
			f.Kind, f.Text = BeatLate, "a heartbeat came late"
			return f, excused
		case came < due-h.Tolerance-stalled:
			f.Kind, f.Text = BeatEarly, "a heartbeat came early"
			return f, excused
		case (came - due).Abs() > h.Tolerance:
			excused++
		}
	}
	stalled := t.MachineDelay(s.At, s.At+h.due(n+1), s.Until)
	if wanted := h.minBeats(s, stalled); n < wanted {
		return &OffBeat{
			Kind: BeatMissing, Event: -1, Place: "heartbeat " + strconv.Itoa(n+1),
			Want: fmt.Sprintf("%d in %s", wanted, (s.Until-s.At).Round(time.Millisecond)) + stallNote(stalled), Got: strconv.Itoa(n),
			Text: "a heartbeat did not come",
		}, excused
	}
	return nil, excused + max(0, h.minBeats(s, 0)-n)
}

// minBeats returns how many heartbeats a stream must have had when it ended, on a machine that may have delayed them.
func (h *Heartbeat) minBeats(s *transcript.Stream, stalled time.Duration) int {
	overdue := s.Until - s.At - h.First - h.Tolerance - stalled
	if overdue < 0 {
		return 0
	}
	return 1 + int(overdue/h.Every)
}

// stallNote says by how much a bound was extended.
func stallNote(stalled time.Duration) string {
	if stalled == 0 {
		return ""
	}
	return fmt.Sprintf("%s%s, because this machine stalled that long", StallPrefix, stalled.Round(time.Millisecond))
}

// StallPrefix separates a bound from its extension.
const StallPrefix = "; plus up to "
