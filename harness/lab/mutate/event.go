package mutate

import (
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An event is an event of the candidate, with its counterpart.
type event struct {
	stream *stream
	index  int
	where  string // "stream bus event 4"
	ev     *transcript.Event
	ref    *transcript.Event // the reference's event; nil when it is unknown
	isBeat bool
}

func (e *event) site() site {
	at := e.stream.site()
	at.event = e.ev
	return at
}

// edit returns a transcript in which the event is changed. It gets the name that the contract has for it after the
// change.
func (e *event) edit(change func(*transcript.Event)) *transcript.Transcript {
	return e.stream.edit(func(st *transcript.Stream) {
		ev := &st.Events[e.index]
		change(ev)
		if e.stream.nameOf != nil && !ev.Comment {
			ev.Name = e.stream.nameOf(st.Operation, ev)
		}
	})
}

// mutant returns the mutant in which a part of the event is changed.
func (e *event) mutant(part, before, after string, change func(*transcript.Event)) Mutant {
	before, after = excerpts(before, after)
	return Mutant{
		Place: e.where + part, Before: before, After: after, site: e.site(),
		Build: func() *transcript.Transcript { return e.edit(change) },
	}
}

// withEvents returns the mutant in which the stream has other events from this one on, with shift more of them.
func (e *event) withEvents(after string, shift int, events func([]transcript.Event) []transcript.Event) Mutant {
	return Mutant{
		Place: e.where, Before: excerpt(e.ev.Name + " " + e.ev.Data), After: excerpt(after), site: e.site(),
		Build: func() *transcript.Transcript { return editEvents(e.stream.t, e.stream.index, e.index, shift, events) },
	}
}

// next returns the following event, or nil.
func (e *event) next() *transcript.Event {
	if e.index+1 < len(e.stream.st.Events) {
		return &e.stream.st.Events[e.index+1]
	}
	return nil
}

// piece returns the piece of a text in the event, or nil.
func (e *event) piece() *streamdiff.Piece { return e.stream.rule.Pieces().Of(e.ev) }
