package compare

import (
	"math"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func unended(s *transcript.Step) bool { return s.Unmet != nil && s.Unmet.Kind == "exit" }

// An outage is the time in which a target is absent because of a step.
type outage struct {
	from, to time.Duration
	// gone is when the process had ended. A failure of something that began later is not excused: the scenario itself
	// caused it.
	gone time.Duration
	// killed says that the process had no chance to finish what it had begun.
	killed bool
	// reported says that a failure because of the outage was reported.
	reported bool
}

// outages returns the times in which steps of a transcript have killed or restarted the process. Other steps that end
// it are not included, because such a scenario checks that the process ends in good order.
func outages(t *transcript.Transcript) []*outage {
	var out []*outage
	var down *outage
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Process == nil && (s.Kind != "restart" || down == nil) {
			continue
		}
		switch s.Kind {
		case "kill":
			down = &outage{from: s.At, to: math.MaxInt64, gone: s.At + s.Took, killed: true}
			out = append(out, down)
		case "restart":
			if down == nil {
				out = append(out, &outage{from: s.At, to: s.At + s.Took, gone: s.At + s.Took, killed: unended(s)})
			} else {
				down.to, down = s.At+s.Took, nil
			}
		}
	}
	return out
}

// explainedByOutage reports whether a step of the scenario explains the failure of something that began at one time and
// failed at another. After a kill, no such failure is reported. After a restart, the first one is reported.
func (d *diagnosis) explainedByOutage(f *transcript.Failure, begun, at time.Duration) bool {
	if f == nil || !lostConnection(f) {
		return false
	}
	for _, o := range d.outages {
		if begun > o.gone || at < o.from || at > o.to {
			continue
		}
		told := o.reported
		o.reported = true
		return o.killed || told
	}
	return false
}

// startOf returns when a request was sent, or when it failed because there was no connection.
func startOf(x *transcript.Exchange) time.Duration {
	if x.Sent > 0 {
		return x.Sent
	}
	return x.Done
}

func lostConnection(f *transcript.Failure) bool {
	return f.Kind == transcript.FailConnect || f.Kind == transcript.FailReset || f.Kind == transcript.FailClosed
}

// killed reports whether a step had killed a side's process by a time, and no step had restarted it. Both sides were at
// the same step then.
func (r runs) killed(side int, at time.Duration) bool {
	return slices.ContainsFunc(outages(r.sides[side]), func(o *outage) bool { return o.killed && at >= o.from && at <= o.to })
}
