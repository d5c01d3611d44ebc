package mutate

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// lateOperators do what they should too late, or when they should not.
var lateOperators = []Operator{
	operator("late", "event", "It sends an event after those who wait for it have given up", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			if st.Kind != "await" || len(st.Events) == 0 || st.Unmet != nil {
				continue
			}
			if !yield(Mutant{
				Place: "step " + st.ID, Before: "found event " + fmt.Sprint(st.Events[0]+1), After: "no event within the bound", site: site{step: st.ID},
				Build: func() *transcript.Transcript {
					return s.withStep(i, func(st *transcript.Step) {
						st.Events, st.Unmet = nil, &transcript.Unmet{Kind: "event", What: "the event", Why: "not within the bound"}
					})
				},
			}) {
				return
			}
		}
	}),
	lateAnswer("answer", "It does not answer within the bound", transcript.PhaseHead),
	lateAnswer("body", "It does not end its answer within the bound", transcript.PhaseBody),
	operator("late", "silence", "It sends an event that came before once more, while it must not", func(s *Subject, _ uint64, yield emit) {
		for _, w := range s.Candidate.Windows {
			for i, st := range s.Candidate.Streams {
				if st.Name != w.Stream {
					continue
				}
				for k := range min(w.First, len(st.Events)) {
					ev := st.Events[k]
					if w.Match != nil && !match.Event(w.Match, &ev) || ev.Comment || s.Rules.Beats(st.Name, st.Operation, &ev) {
						continue
					}
					if !yield(Mutant{
						Place: "step " + w.Step, After: shown(ev.Name + " " + ev.Data), site: site{step: w.Step, stream: st, event: &st.Events[k]},
						Build: func() *transcript.Transcript {
							return s.withStream(i, func(st *transcript.Stream) { st.Events = insertAt(st.Events, ev, w.First, (w.From+w.To)/2) })
						},
					}) {
						return
					}
				}
			}
		}
	}),
}

func lateAnswer(name, doc string, phase transcript.Phase) Operator {
	return operator("late", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			if a.x.Stream != "" {
				return true
			}
			return yield(Mutant{
				Place: a.where, Before: "answered", After: "timed out in the " + string(phase), site: a.site(),
				Build: func() *transcript.Transcript {
					return s.withExchange(a.step, a.index, func(x *transcript.Exchange) {
						x.Failure = &transcript.Failure{Kind: transcript.FailTimeout, Phase: phase, Text: "nothing came within the bound"}
						if phase == transcript.PhaseHead {
							x.Response, x.Head = nil, 0
						}
					})
				},
			})
		})
	})
}

// insertAt inserts an event at a time, not before an index.
func insertAt(events []transcript.Event, ev transcript.Event, first int, at time.Duration) []transcript.Event {
	i := first
	for i < len(events) && events[i].At <= at {
		i++
	}
	ev.At = at
	return slices.Insert(events, i, ev)
}

// gapOperators send events too long after what the client did.
var gapOperators = []Operator{
	eachEvent("late", "gap", "It sends an event later than a rule allows", func(s *Subject, o *occurrence, yield emit) bool {
		gap := s.rule(o.st).Gap
		if gap == nil || o.ref == nil || o.st.Ended == transcript.EndedBroken {
			return true
		}
		by := 2*max(gap.Max, gap.Tolerance) + s.Candidate.Excuse(0, 0, s.Candidate.Took) + s.Reference.Excuse(0, 0, s.Reference.Took) + time.Second
		return yield(s.sequenceMutant(o, "later by "+by.String(), 0, func(all []transcript.Event) []transcript.Event {
			for i := o.index; i < len(all); i++ {
				all[i].At += by
			}
			return all
		}))
	}),
}
