package compare

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A diagnosis tells what follows from the end of a target's process, or of a stream, from what happened beside it.
type diagnosis struct {
	t *transcript.Transcript
	// lastAnswer is when the last complete answer was read: then the process was still alive.
	lastAnswer time.Duration
	// missed has, by the name of a stream that never was, the first step that needed it.
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

// causedByExit reports whether the end of the process explains that something failed at a time.
func (d *diagnosis) causedByExit(f *transcript.Failure, at time.Duration) bool {
	return d.t.Exit != nil && lostConnection(f) && at >= d.lastAnswer
}

// causedByBrokenStream reports whether a step waited for an event in vain because the stream broke. One that begins to wait when a step of the
// scenario has broken the stream knows that.
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

// killedBefore reports whether a stream broke because the process was killed, before a step began.
func (d *diagnosis) killedBefore(s *transcript.Step, st *transcript.Stream) bool {
	return slices.ContainsFunc(d.outages, func(o *outage) bool { return o.killed && o.from <= st.Until && st.Until <= o.to && o.gone < s.At })
}

// opened reports whether a stream came about.
func (d *diagnosis) opened(name string) bool {
	return slices.ContainsFunc(d.t.Streams, func(s *transcript.Stream) bool { return s.Name == name })
}

// reportedEarlier reports whether a step lacks a stream of which an earlier step has told that it is none.
func (d *diagnosis) reportedEarlier(s *transcript.Step) bool {
	first, missed := d.missed[s.Stream]
	return missed && first != s.ID
}

// lastStep returns the first step that the process was not there for, or else the last one.
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
