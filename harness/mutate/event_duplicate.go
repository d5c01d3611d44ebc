package mutate

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// eventDuplicateOperators send events more than once.
var eventDuplicateOperators = []Operator{
	eachEvent("event-duplicate", "next", "It sends an event twice", func(s *Subject, o *occurrence, yield emit) bool {
		return s.saysNothing(o) || yield(s.sequenceMutant(o, "twice", 1, func(all []transcript.Event) []transcript.Event {
			return slices.Insert(all, o.index, all[o.index])
		}))
	}),
	eachEvent("event-duplicate", "again", "It sends an event again at the end", func(s *Subject, o *occurrence, yield emit) bool {
		return s.saysNothing(o) || yield(s.sequenceMutant(o, "again at the end", 0, func(all []transcript.Event) []transcript.Event {
			again := all[o.index]
			again.At = all[len(all)-1].At
			return append(all, again)
		}))
	}),
}
