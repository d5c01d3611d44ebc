package streamdiff

import "github.com/lockstep-dev/lockstep/harness/transcript"

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
