package mutate

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// lateOperators do something too late, or at a time when it must not happen.
var lateOperators = []Operator{
	operator("late", "event", "It sends an event after the time limit of the step that waits for it", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			if st.Kind != "await" || len(st.Events) == 0 || st.Unmet != nil {
				continue
			}
			yield(Mutant{
				Place: "step " + st.ID, Before: "found event " + fmt.Sprint(st.Events[0]+1), After: "no event within the bound", site: site{step: st.ID},
				Build: func() *transcript.Transcript {
					return editStep(s.Candidate, i, func(st *transcript.Step) {
						st.Events, st.Unmet = nil, &transcript.Unmet{Kind: "event", What: "the event", Why: "not within the bound"}
					})
				},
			})
		}
	}),
	timedOut("answer", "It does not answer within the time limit", transcript.PhaseHead),
	timedOut("body", "It does not end its response within the time limit", transcript.PhaseBody),
	operator("late", "silence", "It repeats an event at a forbidden moment", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Windows {
			w := &s.Candidate.Windows[i]
			for st := range s.streams() {
				if st.st.Name == w.Stream {
					insertForbidden(st, w, yield)
				}
			}
		}
	}),
}

// gapOperators send events too long after the client's request.
var gapOperators = []Operator{
	eachContentEvent("late", "gap", "It sends an event later than a rule allows", func(e *event, yield emit) {
		gap := e.stream.rule.Gap
		if gap == nil || e.ref == nil || e.stream.st.Ended == transcript.EndedBroken {
			return
		}
		by := 2*max(gap.Max, gap.Tolerance) + time.Second
		for _, t := range [...]*transcript.Transcript{e.stream.origins.candidate, e.stream.origins.reference} {
			by += t.MachineDelay(0, 0, t.Took)
		}
		yield(e.withEvents("later by "+by.String(), 0, func(all []transcript.Event) []transcript.Event {
			for i := e.index; i < len(all); i++ {
				all[i].At += by
			}
			return all
		}))
	}),
}

func timedOut(name, doc string, phase transcript.Phase) Operator {
	return eachResponse("late", name, doc, func(_ *Subject, r *response, yield emit) {
		if r.x.Stream != "" {
			return
		}
		yield(r.mutant("", "answered", "timed out in the "+string(phase), func(x *transcript.Exchange) {
			x.Failure = &transcript.Failure{Kind: transcript.FailTimeout, Phase: phase, Text: "nothing came within the bound"}
			if phase == transcript.PhaseHead {
				x.Response, x.Head = nil, 0
			}
		}))
	})
}

// insertForbidden yields the mutants in which an event from before a window comes again inside the window, where it
// must not.
func insertForbidden(st *stream, w *transcript.Window, yield emit) {
	for k := range min(w.First, len(st.st.Events)) {
		ev := st.st.Events[k]
		if w.Match != nil && !match.Event(w.Match, &ev) || ev.Comment || st.isBeat(&ev) {
			continue
		}
		at := site{step: w.Step, stream: st.st, event: &st.st.Events[k]}
		yield(Mutant{
			Place: "step " + w.Step, After: excerpt(ev.Name + " " + ev.Data), site: at,
			Build: func() *transcript.Transcript {
				return st.edit(func(out *transcript.Stream) { out.Events = insertAt(out.Events, ev, w.First, (w.From+w.To)/2) })
			},
		})
	}
}

// insertAt inserts an event at a time, but not before an index.
func insertAt(events []transcript.Event, ev transcript.Event, first int, at time.Duration) []transcript.Event {
	i := first
	for i < len(events) && events[i].At <= at {
		i++
	}
	ev.At = at
	return slices.Insert(events, i, ev)
}
