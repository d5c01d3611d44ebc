package streamdiff

import (
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The end of a stream can leave many events without a counterpart. That is one incident, and reported once: as a
// StreamEnd difference, or as a StreamBroken demand of the target. What follows from it counts as not compared.

// flooded reports whether a side has sent more than is recorded.
func (s *streams) flooded(side int) bool {
	f := s.Sides[side].Failure
	return f != nil && f.Kind == transcript.FailLimit
}

// endedFirst reports whether a side's stream ended while its client was still listening, and the other side's did not.
func (s *streams) endedFirst(side int) bool {
	switch this, other := s.Sides[side], s.Sides[1-side]; this.Ended {
	case transcript.EndedBroken:
		return other.Ended != transcript.EndedBroken || !s.Killed(0, s.Sides[0].Until) || !s.Killed(1, s.Sides[1].Until)
	case transcript.EndedByServer:
		return other.Ended != transcript.EndedByServer
	default:
		return false
	}
}

// capFlood cuts a flood of events, so that they are not all aligned.
func (s *streams) capFlood(items *[2][]item) {
	const sample = 20
	for side := range items {
		most := len(items[1-side]) + sample
		if s.flooded(side) && len(items[side]) > most {
			s.NotCompared("what came too much", len(items[side])-most)
			items[side] = items[side][:most]
		}
	}
}

// withoutConsequences drops events without a counterpart that are explained already: those after the end of the other
// side's stream, and all but the first of a flood.
func (s *streams) withoutConsequences(pairs []pair) []pair {
	last := -1
	for i, p := range pairs {
		if p.ref != nil && p.cand != nil {
			last = i
		}
	}
	var out []pair
	var flood [2]int // the events of each side without a counterpart
	for i, p := range pairs {
		if p.alone == "" || p.alone == diff.EventMoved {
			out = append(out, p)
			continue
		}
		has := 1
		if p.alone == diff.EventMissing {
			has = 0
		}
		flood[has]++
		switch {
		case i > last && s.endedFirst(1-has):
			s.NotCompared("behind the end of the other's stream", 1)
		case s.flooded(has) && flood[has] > 1:
			s.NotCompared("what came too much", 1)
		default:
			out = append(out, p)
		}
	}
	return out
}

// A recorded reference does not run any more. If no step waited for an event or a request, it is chance whether it came
// before the recording ended. So a candidate may have more of them. What came before something that a step waited for
// is compared.
//
// NotAwaited is why it is not compared.
const NotAwaited = "not awaited when the reference was recorded"

// maybeLate reports whether an event of the candidate, or the end of its stream, may have come too late for the
// recording. The end has the index after the last event.
func (s *streams) maybeLate(index int) bool {
	if !s.Runs[0].Recorded || s.Sides[0].Ended != transcript.EndedByClient || index <= s.lastAwaited() {
		return false
	}
	s.NotCompared(NotAwaited, 1)
	return true
}

// lastAwaited returns the index of the candidate's last event that a step waited for, or that came while the scenario
// watched for forbidden events; -1 when there is none.
func (s *streams) lastAwaited() int {
	last, t, name := -1, s.Runs[1], s.Sides[1].Name
	for i := range t.Steps {
		if st := &t.Steps[i]; st.Stream == name {
			for _, event := range st.Events {
				last = max(last, event)
			}
		}
	}
	for _, w := range t.Windows {
		for i := range s.Sides[1].Events {
			if w.Stream == name && s.Sides[1].Events[i].At <= w.To {
				last = max(last, i)
			}
		}
	}
	return last
}
