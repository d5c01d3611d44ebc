package mutate

import (
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// pieceOperators stream texts otherwise. Where they are cut matters unless a rule puts the pieces together; what they say
// always does.
var pieceOperators = []Operator{
	eachEvent("chunk", "pieces", "It sends a text in two pieces, where no rule puts them together", func(s *Subject, o *occurrence, yield emit) bool {
		if s.piece(o) != nil {
			return true
		}
		first, second, ok := s.torn(o)
		return !ok || yield(s.sequenceMutant(o, "in two pieces", 1, func(all []transcript.Event) []transcript.Event {
			return replacedEvents(all, o.index, 1, o.with(first), o.with(second))
		}))
	}),
	eachPiece("chunk", "content", "It streams another letter in a text that may be cut in any way", func(s *Subject, o *occurrence, p *compare.Piece, yield emit) bool {
		i := strings.IndexFunc(p.Text, func(r rune) bool { return r >= 'a' && r < 'z' })
		if i < 0 {
			return true
		}
		after := p.Text[:i] + string(p.Text[i]+1) + p.Text[i+1:]
		return yield(s.eventMutant(o, " text", p.Text, after, func(ev *transcript.Event) { *ev = p.With(after) }))
	}),
	eachPiece("chunk", "swapped-pieces", "It streams two pieces of a text the wrong way round", func(s *Subject, o *occurrence, p *compare.Piece, yield emit) bool {
		next := s.next(o, p)
		if next == nil || p.Text+next.Text == next.Text+p.Text {
			return true
		}
		return yield(s.sequenceMutant(o, "behind the next piece", 0, func(all []transcript.Event) []transcript.Event {
			return replacedEvents(all, o.index, 2, p.With(next.Text), next.With(p.Text))
		}))
	}),
}

// samePieces cut a text in other places, where a rule puts the pieces together.
var samePieces = []Operator{
	harmless(eachPiece("same", "split-piece", "It cuts a text in more pieces, where that does not matter", func(s *Subject, o *occurrence, p *compare.Piece, yield emit) bool {
		runes := []rune(p.Text)
		if len(runes) < 2 || !utf8.ValidString(p.Text) { // of a character that was cut in two, a half is not for cutting
			return true
		}
		half := len(runes) / 2
		return yield(s.sequenceMutant(o, "in two pieces", 1, func(all []transcript.Event) []transcript.Event {
			return replacedEvents(all, o.index, 1, p.With(string(runes[:half])), p.With(string(runes[half:])))
		}))
	})),
	harmless(eachPiece("same", "joined-pieces", "It cuts a text in fewer pieces, where that does not matter", func(s *Subject, o *occurrence, p *compare.Piece, yield emit) bool {
		next := s.next(o, p)
		return next == nil || yield(s.sequenceMutant(o, "one piece with the next", -1, func(all []transcript.Event) []transcript.Event {
			return replacedEvents(all, o.index, 2, p.With(jsontree.Join(p.Text, next.Text)))
		}))
	})),
}

// eachPiece makes an operator of a function that is called with every piece of a text.
func eachPiece(family, name, doc string, change func(s *Subject, o *occurrence, p *compare.Piece, yield emit) bool) Operator {
	return eachEvent(family, name, doc, func(s *Subject, o *occurrence, yield emit) bool {
		p := s.piece(o)
		return p == nil || change(s, o, p, yield)
	})
}

// piece returns the piece of a text that an event brings, nil when it brings none.
func (s *Subject) piece(o *occurrence) *compare.Piece { return s.rule(o.st).Pieces().Of(o.ev) }

// saysNothing reports whether an event is an empty piece of a text, of which it does not matter whether it comes.
func (s *Subject) saysNothing(o *occurrence) bool {
	p := s.piece(o)
	return p != nil && p.Text == ""
}

// next returns the piece that follows one of the same text at once.
func (s *Subject) next(o *occurrence, p *compare.Piece) *compare.Piece {
	if o.index+1 >= len(o.st.Events) {
		return nil
	}
	if next := s.rule(o.st).Pieces().Of(&o.st.Events[o.index+1]); next != nil && p.Joins(next) {
		return next
	}
	return nil
}

// torn returns the data of an event with its longest text in two halves; false when it has none.
func (s *Subject) torn(o *occurrence) (first, second string, ok bool) {
	root, _, err := jsontree.Parse([]byte(o.ev.Data))
	if err != nil {
		return "", "", false
	}
	var longest *jsontree.Node
	for i, item := range root.Items {
		if root.Kind == jsontree.Object && item.Kind == jsontree.String && item.Text != o.ev.Name && root.Names[i] != "id" &&
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

// with returns the event with other data.
func (o *occurrence) with(data string) transcript.Event {
	ev := *o.ev
	ev.Data = data
	return ev
}

// commute reports whether two events are pieces of one text that say the same in any order.
func (s *Subject) commute(a, b *occurrence) bool {
	p, q := s.piece(a), s.piece(b)
	return p != nil && q != nil && p.Joins(q) && p.Text+q.Text == q.Text+p.Text
}

// replacedEvents puts events in the place of n of a list, which came when the first of those did.
func replacedEvents(all []transcript.Event, at, n int, events ...transcript.Event) []transcript.Event {
	out := append([]transcript.Event{}, all[:at]...)
	for _, ev := range events {
		ev.At = all[at].At
		out = append(out, ev)
	}
	return append(out, all[at+n:]...)
}
