package watch

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// events are what a watch has recorded. They are append-only and do not change. So a copy of the struct keeps the events
// of one moment, and may be read while more are added.
//
// They are in segments, because a slice that grows would copy all events again and again.
type events struct {
	full [][]transcript.Event // each with segment events
	last []transcript.Event
}

// segment is the number of events in a segment.
const segment = 256

// add adds an event and returns its index.
func (e *events) add(ev *transcript.Event) int {
	if len(e.last) == segment {
		e.full = append(e.full, e.last)
		e.last = make([]transcript.Event, 0, segment)
	}
	e.last = append(e.last, *ev)
	return e.len() - 1
}

func (e *events) len() int { return len(e.full)*segment + len(e.last) }

func (e *events) at(i int) *transcript.Event {
	if i < len(e.full)*segment {
		return &e.full[i/segment][i%segment]
	}
	return &e.last[i%segment]
}

// all returns a copy of all events; nil if there are none.
func (e *events) all() []transcript.Event {
	out := slices.Grow([]transcript.Event(nil), e.len())
	for _, s := range e.full {
		out = append(out, s...)
	}
	return append(out, e.last...)
}
