package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A recorded reference does not run any more. If no step waited for an event or a request, it is chance whether it came
// before the recording ended. So a candidate may have more of them. What came before something that a step waited for
// is compared.
const notAwaited = "not awaited when the reference was recorded"

// maybeLate reports whether an event of the candidate, or the end of its stream, may have come too late for the
// recording. The end has the index after the last event.
func (s *streams) maybeLate(index int) bool {
	if !s.runs.sides[0].Recorded || s.sides[0].Ended != transcript.EndedByClient || index <= s.lastAwaited() {
		return false
	}
	s.notCompared(notAwaited, 1)
	return true
}

// lastAwaited returns the index of the candidate's last event that a step waited for, or that came while the scenario
// watched for forbidden events; -1 when there is none.
func (s *streams) lastAwaited() int {
	last, t, name := -1, s.runs.sides[1], s.sides[1].Name
	for i := range t.Steps {
		if st := &t.Steps[i]; st.Stream == name {
			for _, event := range st.Events {
				last = max(last, event)
			}
		}
	}
	for _, w := range t.Windows {
		for i := range s.sides[1].Events {
			if w.Stream == name && s.sides[1].Events[i].At <= w.To {
				last = max(last, i)
			}
		}
	}
	return last
}

// withoutLate drops requests to an upstream that the recorded reference lacks, if they may have come too late for the
// recording.
func (u upstream) withoutLate(ref, cand []*transcript.Exchange) []*transcript.Exchange {
	more := len(cand) - len(ref)
	if !u.sides[0].Recorded || more <= 0 {
		return cand
	}
	acted, ended := lastAction(u.sides[1])
	kept := slices.Clone(cand)
	for i := len(cand) - 1; i >= 0 && more > 0; i-- { // the last ones first
		from := ended
		if isNotification(&cand[i].Request) {
			from = acted
		}
		if cand[i].Sent >= from {
			kept = slices.Delete(kept, i, i+1)
			more--
		}
	}
	u.notCompared(notAwaited, len(cand)-len(kept))
	return kept
}

// lateHangUp reports whether a candidate hung up on an upstream after the last step. The recorded reference may have
// done so too late for the recording.
func (u upstream) lateHangUp(ref, cand *transcript.Exchange) bool {
	if _, ended := lastAction(u.sides[1]); !u.sides[0].Recorded || ref.Failure != nil || cand.Done < ended {
		return false
	}
	u.notCompared(notAwaited, 1)
	return true
}

// isNotification reports whether a message to an MCP server is a notification (JSON-RPC 2.0 §4.1). It gets no response,
// so no response of the target can wait for it.
func isNotification(r *transcript.Request) bool {
	return r.Method == transcript.MCP && strings.HasPrefix(r.Target, "notifications/")
}

// lastAction returns when the client last did something to the target, and when the last step ended. Both ignore the
// teardown.
func lastAction(t *transcript.Transcript) (acted, ended time.Duration) {
	for i := range t.Steps {
		st := &t.Steps[i]
		if strings.HasPrefix(st.ID, "teardown.") {
			break
		}
		ended = max(ended, st.At+st.Took)
		switch st.Kind {
		case "await", "never", "asked": // these only watch
		default:
			acted = max(acted, st.At)
		}
	}
	return acted, ended
}
