package streamdiff

import (
	"slices"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Pieces are the collapse rules of a stream in a compiled form.
type Pieces struct {
	rules []pieceRule
	exact bool // the notation of events matters
}

type pieceRule struct {
	event string
	by    []*jsonpath.Path
	text  *jsonpath.Path
}

// Pieces compiles the collapse rules.
func (r Rules) Pieces() Pieces {
	out := Pieces{exact: r.Exact}
	for _, c := range r.Collapse {
		rule := pieceRule{event: c.Event}
		var err error
		if rule.text, err = jsonpath.Parse(c.Text); err != nil {
			continue // this was checked when the rules were read
		}
		for _, by := range c.By {
			path, err := jsonpath.Parse(by)
			if err != nil {
				continue
			}
			rule.by = append(rule.by, path)
		}
		out.rules = append(out.rules, rule)
	}
	return out
}

// A Piece is an event that contains a piece of a text.
type Piece struct {
	Text string
	ev   *transcript.Event
	root *jsontree.Node
	node *jsontree.Node // the one with the text
	// exact is whether the notation of the event matters.
	exact bool
}

// Of returns the piece of a text in an event; nil when no rule selects one. Defective data does not count as a piece,
// and neither does an event that a browser ignores.
func (p Pieces) Of(ev *transcript.Event) *Piece {
	i := slices.IndexFunc(p.rules, func(r pieceRule) bool { return r.event == ev.Name })
	if i < 0 || ev.Comment || ev.Undispatched {
		return nil
	}
	root, defects, err := jsontree.Parse([]byte(ev.Data))
	if err != nil || len(defects) > 0 {
		return nil
	}
	value := root.Value()
	for _, by := range p.rules[i].by {
		if len(by.Select(value)) != 1 {
			return nil
		}
	}
	found := p.rules[i].text.SelectLocated(value)
	if len(found) != 1 {
		return nil
	}
	node, _ := root.At(found[0].Path.Pointer())
	if node.Kind != jsontree.String {
		return nil
	}
	return &Piece{node.Text, ev, root, node, p.exact}
}

// With returns the event with a different text.
func (p *Piece) With(text string) transcript.Event {
	ev, was := *p.ev, p.node.Text
	p.node.Text = text
	ev.Data = p.root.String()
	p.node.Text = was
	return ev
}

// Joins reports whether two consecutive pieces belong to one text: their events differ in nothing else.
func (p *Piece) Joins(next *Piece) bool {
	a, b := p.ev, next.ev
	if a.Name != b.Name || a.Type != b.Type || a.ID != b.ID || a.Retry != b.Retry || p.exact && a.Framing != b.Framing {
		return false
	}
	was := next.node.Text
	next.node.Text = p.node.Text
	same := jsontree.Equal(p.root, next.root, jsontree.Exact.Equal)
	next.node.Text = was
	return same
}

// collapse joins the pieces of texts in a sequence. The event that represents a run has the label of the first piece.
// An anchor ends a run.
func (s *sequences) collapse(side int, items, anchors []item) []item {
	if len(s.pieces.rules) == 0 {
		return items
	}
	var out []item
	for len(items) > 0 {
		run := s.run(items, anchors)
		if len(run) < 2 {
			out, items = append(out, items[0]), items[1:]
			continue
		}
		whole := items[0]
		texts := make([]string, len(run))
		for i, p := range run {
			texts[i] = p.Text
		}
		ev := run[0].With(jsontree.Join(texts...)) // if a character was split, this makes it whole again
		whole.event = &ev
		whole.key, whole.outline = s.keys(side, &ev)
		out, items = append(out, whole), items[len(run):]
		s.joined[side] += len(run)
		s.IDs.Applied[CollapseApplied(s.RuleKey, ev.Name)] = true
	}
	return out
}

// run returns the pieces of one text at the start of a sequence.
func (s *sequences) run(items, anchors []item) []*Piece {
	var run []*Piece
	for i := range items {
		p := s.pieces.Of(items[i].event)
		if p == nil || len(run) > 0 && (!run[0].Joins(p) || parted(items[i-1], items[i], anchors)) {
			break
		}
		run = append(run, p)
	}
	return run
}

// parted reports whether there is an anchor between two events.
func parted(a, b item, anchors []item) bool {
	return slices.ContainsFunc(anchors, func(anchor item) bool { return a.index < anchor.index && anchor.index < b.index })
}
