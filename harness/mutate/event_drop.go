package mutate

import (
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// eventDropOperators do not send events.
var eventDropOperators = []Operator{
	eachEvent("event-drop", "one", "It does not send an event", func(s *Subject, o *occurrence, yield emit) bool {
		return s.saysNothing(o) || yield(s.sequenceMutant(o, "", -1, func(all []transcript.Event) []transcript.Event {
			return slices.Delete(all, o.index, o.index+1)
		}))
	}),
	eachEvent("event-drop", "rest", "It sends nothing from an event on", func(s *Subject, o *occurrence, yield emit) bool {
		return s.saysNothing(o) || yield(s.sequenceMutant(o, "", 0, func(all []transcript.Event) []transcript.Event { return all[:o.index] }))
	}),
	operator("event-drop", "all", "It sends no event at all", func(s *Subject, _ uint64, yield emit) {
		for i, st := range s.Candidate.Streams {
			if len(s.sequence(st)) == 0 {
				continue
			}
			if !yield(Mutant{
				Place: "stream " + st.Name, Before: strconv.Itoa(len(st.Events)) + " events", site: site{step: st.Step, stream: st},
				Build: func() *transcript.Transcript {
					return s.withEvents(i, -1, 0, func([]transcript.Event) []transcript.Event { return nil })
				},
			}) {
				return
			}
		}
	}),
}

// eachEvent makes an operator of a function that is called with every event that is no heartbeat.
func eachEvent(family, name, doc string, change func(s *Subject, o *occurrence, yield emit) bool) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool { return o.beat || change(s, o, yield) })
	})
}

// sequenceMutant is the mutant in which a stream has other events, shift more of them from one on.
func (s *Subject) sequenceMutant(o *occurrence, after string, shift int, events func([]transcript.Event) []transcript.Event) Mutant {
	return Mutant{
		Place: o.where, Before: shown(o.ev.Name + " " + o.ev.Data), After: shown(after), site: o.site(),
		Build: func() *transcript.Transcript { return s.withEvents(o.stream, o.index, shift, events) },
	}
}
