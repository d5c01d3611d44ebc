package compare

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
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
	if s.Unmet.Kind != "event" && s.Unmet.Kind != "ready" && s.Unmet.Kind != "send" {
		return false
	}
	for _, st := range d.t.Streams {
		if st.Name == s.Stream {
			return st.Ended == transcript.EndedBroken && s.At+s.Took >= st.Until && !d.killedBefore(s, st)
		}
	}
	return false
}

// withNoun puts what the events of a stream are called into a sentence.
func (d *diagnosis) withNoun(sentence, stream string) string {
	var wire transcript.Wire
	for _, st := range d.t.Streams {
		if st.Name == stream {
			wire = st.Wire
		}
	}
	return strings.ReplaceAll(sentence, "{event}", wire.Noun())
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

// canceled reports whether lockstep gave up an exchange.
func canceled(x *transcript.Exchange) bool { return x.Failure != nil && !broke(x) }

// broke reports whether the server broke the exchange. One that lockstep gave up does not count: how it would have
// ended is unknown.
func broke(x *transcript.Exchange) bool {
	return x.Failure != nil && x.Failure.Kind != transcript.FailCanceled
}

func outcome(x *transcript.Exchange) string {
	switch {
	case canceled(x):
		return "no answer until its client hung up"
	case x.Failure != nil:
		return x.Failure.Text
	case x.Response != nil:
		return strconv.Itoa(x.Response.Status)
	default:
		return diff.Absent
	}
}

// operationOf returns the method and the path of a request, without the query.
func operationOf(x *transcript.Exchange) string {
	target, _, _ := strings.Cut(x.Request.Target, "?")
	return x.Request.Method + " " + target
}

func succeeded(x *transcript.Exchange) bool { return x.Response.Status/100 == 2 }

// hasBody reports whether a response is complete and may have a body.
func hasBody(x *transcript.Exchange) bool {
	return x.Response != nil && x.Failure == nil && x.Request.Method != "HEAD"
}

// givenUp reports whether the scenario hangs up on the step's exchange instead of waiting for the outcome.
func givenUp(s *transcript.Step) bool { return s.Kind == "close" || s.Kind == "drop" }

// unexpectedKind is the kind of the unmet demand about requests that no rule answers.
const unexpectedKind = "unexpected"

func isUnexpected(s *transcript.Step) bool { return s.Unmet != nil && s.Unmet.Kind == unexpectedKind }
