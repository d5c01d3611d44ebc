package mutate

import (
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// pieceOperators stream texts in another way. Where a text is split matters only if no rule joins the pieces. The text
// itself always matters.
var pieceOperators = []Operator{
	eachContentEvent("chunk", "pieces", "It sends a text in two pieces, where no rule joins them", func(e *event, yield emit) {
		if e.piece() != nil {
			return
		}
		if first, second, ok := halves(e); ok {
			yield(e.withEvents("in two pieces", 1, func(all []transcript.Event) []transcript.Event {
				return replaceEvents(all, e.index, 1, e.withData(first), e.withData(second))
			}))
		}
	}),
	eachPiece("chunk", "content", "It streams another letter in a text that may be cut in any way", func(e *event, p *streamdiff.Piece, yield emit) {
		i := strings.IndexFunc(p.Text, func(r rune) bool { return r >= 'a' && r < 'z' })
		if i < 0 {
			return
		}
		after := p.Text[:i] + string(p.Text[i]+1) + p.Text[i+1:]
		yield(e.mutant(" text", p.Text, after, func(ev *transcript.Event) { *ev = p.With(after) }))
	}),
	eachPiece("chunk", "swapped-pieces", "It swaps two pieces of a streamed text", func(e *event, p *streamdiff.Piece, yield emit) {
		next := e.nextPiece(p)
		if next == nil || p.Text+next.Text == next.Text+p.Text {
			return
		}
		yield(e.withEvents("behind the next piece", 0, func(all []transcript.Event) []transcript.Event {
			return replaceEvents(all, e.index, 2, p.With(next.Text), next.With(p.Text))
		}))
	}),
}

// samePieceOperators split a text in other places, where a rule joins the pieces.
var samePieceOperators = []Operator{
	eachPiece("same", "split-piece", "It cuts a text into more pieces, where that does not matter", func(e *event, p *streamdiff.Piece, yield emit) {
		runes := []rune(p.Text)
		if len(runes) < 2 || !utf8.ValidString(p.Text) { // half of a character cannot be split again
			return
		}
		half := len(runes) / 2
		yield(e.withEvents("in two pieces", 1, func(all []transcript.Event) []transcript.Event {
			return replaceEvents(all, e.index, 1, p.With(string(runes[:half])), p.With(string(runes[half:])))
		}))
	}),
	eachPiece("same", "joined-pieces", "It cuts a text into fewer pieces, where that does not matter", func(e *event, p *streamdiff.Piece, yield emit) {
		if next := e.nextPiece(p); next != nil {
			yield(e.withEvents("one piece with the next", -1, func(all []transcript.Event) []transcript.Event {
				return replaceEvents(all, e.index, 2, p.With(jsontree.Join(p.Text, next.Text)))
			}))
		}
	}),
}

// eachPiece makes an operator from a function that is called with every piece of a text.
func eachPiece(family, name, doc string, change func(e *event, p *streamdiff.Piece, yield emit)) Operator {
	return eachContentEvent(family, name, doc, func(e *event, yield emit) {
		if p := e.piece(); p != nil {
			change(e, p, yield)
		}
	})
}

// nextPiece returns the piece of the same text in the next event, or nil.
func (e *event) nextPiece(p *streamdiff.Piece) *streamdiff.Piece {
	next := e.next()
	if next == nil {
		return nil
	}
	if other := e.stream.rule.Pieces().Of(next); other != nil && p.Joins(other) {
		return other
	}
	return nil
}

// halves returns the data of an event with its longest text split in two. It returns false when there is no such text.
func halves(e *event) (first, second string, ok bool) {
	root, _, err := jsontree.Parse([]byte(e.ev.Data))
	if err != nil {
		return "", "", false
	}
	var longest *jsontree.Node
	for i, item := range root.Items {
		if root.Kind == jsontree.Object && item.Kind == jsontree.String && item.Text != e.ev.Name && root.Names[i] != "id" &&
			(longest == nil || len(item.Text) > len(longest.Text)) {
			longest = item
		}
	}
	if longest == nil || len([]rune(longest.Text)) < 2 {
		return "", "", false
	}
	runes := []rune(longest.Text)
	longest.Text = string(runes[:len(runes)/2])
	first = root.String()
	longest.Text = string(runes[len(runes)/2:])
	return first, root.String(), true
}

// withData returns the event with other data.
func (e *event) withData(data string) transcript.Event {
	ev := *e.ev
	ev.Data = data
	return ev
}

// replaceEvents replaces n events of a list by others, at the time of the first one.
func replaceEvents(all []transcript.Event, at, n int, events ...transcript.Event) []transcript.Event {
	out := append([]transcript.Event{}, all[:at]...)
	for _, ev := range events {
		ev.At = all[at].At
		out = append(out, ev)
	}
	return append(out, all[at+n:]...)
}
