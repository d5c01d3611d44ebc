package mutate

import (
	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A stream is an event stream of the candidate, with the reference's stream of the same name.
type stream struct {
	t       *transcript.Transcript // the candidate's
	index   int
	st      *transcript.Stream
	ref     *transcript.Stream // nil when the reference has none
	rules   *compare.Rules
	rule    streamdiff.Rules // the rules for this stream
	nameOf  func(operation string, ev *transcript.Event) string
	origins *origins
}

func (st *stream) site() site { return site{step: st.st.Step, stream: st.st} }

func (st *stream) isBeat(ev *transcript.Event) bool {
	return st.rules.Beats(st.st.Name, st.st.Operation, ev)
}

// content returns the events on one side of the stream without heartbeats.
func (st *stream) content(side *transcript.Stream) []*transcript.Event {
	var out []*transcript.Event
	for k := range side.Events {
		if ev := &side.Events[k]; !st.rules.Beats(side.Name, side.Operation, ev) {
			out = append(out, ev)
		}
	}
	return out
}

// referenceBeats reports whether the reference keeps the stream alive as well.
func (st *stream) referenceBeats() bool {
	return st.ref != nil && len(st.content(st.ref)) < len(st.ref.Events)
}

// edit returns a transcript in which the stream is changed. The function may change its list of events in place.
func (st *stream) edit(change func(*transcript.Stream)) *transcript.Transcript {
	return editStream(st.t, st.index, change)
}

// mutant returns the mutant in which the stream is changed.
func (st *stream) mutant(before, after string, change func(*transcript.Stream)) Mutant {
	return Mutant{
		Place: "stream " + st.st.Name, Before: before, After: after, site: st.site(),
		Build: func() *transcript.Transcript { return st.edit(change) },
	}
}

// events pairs the events of both sides. Heartbeats are marked and have no counterpart.
func (st *stream) events() []*event {
	labels := st.rules.Labels(st.st)
	var reference []*transcript.Event
	if st.ref != nil {
		reference = st.content(st.ref)
	}
	pieces := st.rule.Pieces()
	whole, byText := splitPieces(pieces, reference)
	var out []*event
	n := 0
	for k := range st.st.Events {
		ev := &event{stream: st, index: k, where: "stream " + st.st.Name + " " + labels[k], ev: &st.st.Events[k]}
		ev.isBeat = st.isBeat(ev.ev)
		switch p := pieces.Of(ev.ev); {
		case ev.isBeat:
		case p != nil: // chance decides where a text is split, so its pieces have no counterparts by number
			ev.ref = byText[p.Text]
		default:
			if n < len(whole) {
				ev.ref = whole[n]
			}
			n++
		}
		out = append(out, ev)
	}
	return out
}

// splitPieces returns the events that are not pieces of texts, and one event for each piece.
func splitPieces(pieces streamdiff.Pieces, events []*transcript.Event) (whole []*transcript.Event, byText map[string]*transcript.Event) {
	byText = map[string]*transcript.Event{}
	for _, ev := range events {
		if p := pieces.Of(ev); p != nil {
			byText[p.Text] = ev
		} else {
			whole = append(whole, ev)
		}
	}
	return whole, byText
}
