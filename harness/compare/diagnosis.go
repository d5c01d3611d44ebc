package compare

import (
	"math"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A diagnosis tells which failures are only consequences: of the end of a target's process, or of a stream.
type diagnosis struct {
	t *transcript.Transcript
	// lastAnswer is when the last complete response was read. The process was still alive then.
	lastAnswer time.Duration
	// missed has the first step that needed a stream, for each stream that was never opened.
	missed  map[string]string
	outages []*outage
}

func diagnose(t *transcript.Transcript) *diagnosis {
	d := &diagnosis{t: t, missed: map[string]string{}, outages: outages(t)}
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Unmet != nil && s.Stream != "" && d.missed[s.Stream] == "" && !d.opened(s.Stream) {
			d.missed[s.Stream] = s.ID
		}
		for _, x := range t.Steps[i].Exchanges {
			if x.Response != nil && x.Failure == nil && x.Stream == "" {
				d.lastAnswer = max(d.lastAnswer, x.Done)
			}
		}
	}
	return d
}

// causedByExit reports whether the end of the process explains a failure at a time.
func (d *diagnosis) causedByExit(f *transcript.Failure, at time.Duration) bool {
	return d.t.Exit != nil && lostConnection(f) && at >= d.lastAnswer
}

// causedByBrokenStream reports whether a step waited in vain because the stream broke. If a kill had broken it before
// the step, that is no excuse: the scenario should not have waited.
func (d *diagnosis) causedByBrokenStream(s *transcript.Step) bool {
	if s.Unmet.Kind != "event" && s.Unmet.Kind != "ready" {
		return false
	}
	for _, st := range d.t.Streams {
		if st.Name == s.Stream {
			return st.Ended == transcript.EndedBroken && s.At+s.Took >= st.Until && !d.killedBefore(s, st)
		}
	}
	return false
}

// killedBefore reports whether a kill of the process broke a stream before a step began.
func (d *diagnosis) killedBefore(s *transcript.Step, st *transcript.Stream) bool {
	return slices.ContainsFunc(d.outages, func(o *outage) bool { return o.killed && o.from <= st.Until && st.Until <= o.to && o.gone < s.At })
}

// opened reports whether a stream was opened.
func (d *diagnosis) opened(name string) bool {
	return slices.ContainsFunc(d.t.Streams, func(s *transcript.Stream) bool { return s.Name == name })
}

// reportedEarlier reports whether a step lacks a stream that an earlier step has reported as missing.
func (d *diagnosis) reportedEarlier(s *transcript.Step) bool {
	first, missed := d.missed[s.Stream]
	return missed && first != s.ID
}

// lastStep returns the first step that failed because the process had ended, or else the last step.
func (d *diagnosis) lastStep() string {
	id := ""
	for i := range d.t.Steps {
		s := &d.t.Steps[i]
		id = s.ID
		if s.Skipped == transcript.Exited {
			return id
		}
		for _, x := range s.Exchanges {
			if x.Failure != nil && d.causedByExit(x.Failure, x.Done) {
				return id
			}
		}
	}
	return id
}

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
