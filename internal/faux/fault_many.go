package faux

import (
	"maps"
	"strconv"
)

// ManyFields returns the fault of a server that adds n fields to the answer about the lamp, and to the event about
// the bench. No schema declares them.
func ManyFields(n int) *Fault {
	with := func(o object) object {
		o = maps.Clone(o)
		for i := range n {
			o["f"+strconv.Itoa(i)] = "x"
		}
		return o
	}
	return &Fault{
		answer: about(read, func(a *answer) { a.value = with(a.value.(object)) }),
		event: on("created", "bench", func(s *stream, ev event) {
			ev.data = with(ev.data)
			s.send(ev)
		}),
	}
}

// ManyEvents returns the fault of a server that sends n events about the bench, each with a different name.
func ManyEvents(n int) *Fault {
	return &Fault{event: on("created", "bench", func(s *stream, ev event) {
		for i := 0; i < n && !s.ended; i++ {
			ev.data = maps.Clone(ev.data)
			ev.data["name"] = "bench " + strconv.Itoa(i)
			s.send(ev)
		}
	})}
}
