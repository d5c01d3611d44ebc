package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// withoutLate drops requests to an upstream that the recorded reference lacks, if they may have come too late for the
// recording.
func (u upstream) withoutLate(ref, cand []*transcript.Exchange) []*transcript.Exchange {
	more := len(cand) - len(ref)
	if !u.c.runs.sides[0].Recorded || more <= 0 {
		return cand
	}
	acted, ended := lastAction(u.c.runs.sides[1])
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
	u.c.found.notCompared(streamdiff.NotAwaited, len(cand)-len(kept))
	return kept
}

// lateHangUp reports whether a candidate hung up on an upstream after the last step. The recorded reference may have
// done so too late for the recording.
func (u upstream) lateHangUp(ref, cand *transcript.Exchange) bool {
	if _, ended := lastAction(u.c.runs.sides[1]); !u.c.runs.sides[0].Recorded || ref.Failure != nil || cand.Done < ended {
		return false
	}
	u.c.found.notCompared(streamdiff.NotAwaited, 1)
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
