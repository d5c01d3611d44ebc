package mutate

import (
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// eventDropOperators omit events.
var eventDropOperators = []Operator{
	eachVisibleEvent("event-drop", "one", "It does not send an event", func(e *event, yield emit) {
		yield(e.withEvents("", -1, func(all []transcript.Event) []transcript.Event { return slices.Delete(all, e.index, e.index+1) }))
	}),
	eachVisibleEvent("event-drop", "rest", "It sends nothing from an event on", func(e *event, yield emit) {
		yield(e.withEvents("", 0, func(all []transcript.Event) []transcript.Event { return all[:e.index] }))
	}),
	eachStream("event-drop", "all", "It sends no event at all", func(_ *Subject, st *stream, yield emit) {
		if len(st.content(st.st)) > 0 {
			m := st.mutant(strconv.Itoa(len(st.st.Events))+" events", "", nil)
			m.Build = func() *transcript.Transcript {
				return editEvents(st.t, st.index, -1, 0, func([]transcript.Event) []transcript.Event { return nil })
			}
			yield(m)
		}
	}),
}

// eventDuplicateOperators send events more than once.
var eventDuplicateOperators = []Operator{
	eachVisibleEvent("event-duplicate", "next", "It sends an event twice", func(e *event, yield emit) {
		yield(e.withEvents("twice", 1, func(all []transcript.Event) []transcript.Event { return slices.Insert(all, e.index, all[e.index]) }))
	}),
	eachVisibleEvent("event-duplicate", "again", "It sends an event again at the end", func(e *event, yield emit) {
		yield(e.withEvents("again at the end", 0, func(all []transcript.Event) []transcript.Event {
			again := all[e.index]
			again.At = all[len(all)-1].At
			return append(all, again)
		}))
	}),
}

// eachVisibleEvent makes an operator on events. It skips heartbeats and empty pieces of a text, because an empty piece
// makes no difference.
func eachVisibleEvent(family, name, doc string, change func(e *event, yield emit)) Operator {
	return eachContentEvent(family, name, doc, func(e *event, yield emit) {
		if p := e.piece(); p == nil || p.Text != "" {
			change(e, yield)
		}
	})
}
