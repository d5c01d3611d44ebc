package template

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Parse parses a text. Text between {{ and }} that is not an expression stands for itself (GA 11.2). An invalid tag
// is an error, and so is a text that exceeds the bounds of the work.
func (w *Work) Parse(text string) (*Template, error) {
	cut := newCutter(text)
	parts, err := cut.split()
	if err != nil {
		return nil, err
	}
	p := &parser{work: w, parts: parts}
	pieces, _, err := p.until()
	if err != nil {
		return nil, err
	}
	return &Template{pieces, p.extends}, nil
}

// A part is a piece of text: plain, or inside braces.
type part struct {
	kind byte   // 0 for plain text; '{' for an expression, '%' for a tag, '#' for a comment
	text string // plain, or the text inside the braces without the trim marks
	raw  string // including the braces
}

// closing has the closing braces for each opening brace, by its second character.
var closing = map[byte]string{'{': "}}", '%': "%}", '#': "#}"}

// endOfRaw ends a raw text. It captures the hyphens.
var endOfRaw = regexp.MustCompile(`\{%(-?)[ \t\r\n]*endraw[ \t\r\n]*(-?)%\}`)

// A cutter splits a text into its parts.
type cutter struct {
	text   string
	last   map[byte]int // the last closing braces of each kind; after them, no search can succeed
	looked int          // how many bytes it has searched for closing braces: at most the length of the text
}

func newCutter(text string) *cutter {
	c := &cutter{text: text, last: map[byte]int{}}
	for kind, braces := range closing {
		c.last[kind] = strings.LastIndex(text, braces)
	}
	return c
}

// inside returns the text between the braces of a kind that open before at, and whether they are closed.
func (c *cutter) inside(kind byte, at int) (inside string, closed bool) {
	if end, known := c.last[kind]; !known || end < at {
		return "", false
	}
	inside, _, closed = strings.Cut(c.text[at:], closing[kind])
	c.looked += len(inside)
	return inside, closed
}

// split returns the parts of the text. Braces that are not closed are plain text.
func (c *cutter) split() ([]part, error) {
	var parts []part
	text := c.text
	trim := false // whether to trim blanks at the start of the next part
	plain := func(s string, trimEnd bool) {
		if trim {
			s = strings.TrimLeft(s, " \t\r\n")
		}
		if trimEnd {
			s = strings.TrimRight(s, " \t\r\n")
		}
		if s != "" {
			parts = append(parts, part{text: s, raw: s})
		}
	}
	start := 0
	for at := 0; at < len(text); {
		open := strings.IndexByte(text[at:], '{')
		if open < 0 || at+open+1 >= len(text) {
			break
		}
		at += open
		if len(parts) > 2*maxPieces { // plain and other parts alternate
			return nil, errPieces
		}
		kind := text[at+1]
		inside, closed := c.inside(kind, at+2)
		if !closed {
			at++
			continue
		}
		length := len(inside) + 4
		trimBefore, trimAfter := strings.HasPrefix(inside, "-"), len(inside) > 1 && strings.HasSuffix(inside, "-")
		plain(text[start:at], trimBefore)
		inside = strings.TrimSuffix(strings.TrimPrefix(inside, "-"), "-")
		parts = append(parts, part{kind, inside, text[at : at+length]})
		at += length
		start, trim = at, trimAfter
		if kind == '%' && strings.TrimSpace(inside) == "raw" {
			end := endOfRaw.FindStringSubmatchIndex(text[at:])
			if end == nil {
				return nil, errors.New("the tag endraw is missing")
			}
			plain(text[at:at+end[0]], end[2] < end[3])
			at += end[1]
			start, trim = at, end[4] < end[5]
		}
	}
	plain(text[start:], false)
	return parts, nil
}

// A parser builds pieces from parts.
type parser struct {
	work    *Work
	parts   []part
	extends expression
	depth   int
}

// until parses pieces up to one of the given tags, which it returns, or to the end of the text if none is given.
func (p *parser) until(ends ...string) (pieces []piece, end tag, err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, tag{}, errTooDeep
	}
	defer func() { p.depth-- }()
	for len(p.parts) > 0 {
		next := p.parts[0]
		p.parts = p.parts[1:]
		switch next.kind {
		case 0:
			pieces = append(pieces, literal(next.text))
		case '{':
			made, err := p.output(next)
			if err != nil {
				return nil, tag{}, err
			}
			pieces = append(pieces, made)
		case '%':
			t := newTag(next.text)
			if slices.Contains(ends, t.name) {
				return pieces, t, nil
			}
			made, err := p.tag(t)
			if err != nil {
				return nil, tag{}, err
			}
			if made != nil {
				pieces = append(pieces, made)
			}
		}
	}
	if len(ends) > 0 {
		return nil, tag{}, fmt.Errorf("the tag %s is missing", ends[len(ends)-1])
	}
	return pieces, tag{}, nil
}

// output returns the piece for {{ and }}: the value of an expression, or else the unchanged text.
func (p *parser) output(inside part) (piece, error) {
	value, err := p.work.expression(inside.text)
	if errors.Is(err, errExpression) {
		return literal(inside.raw), nil
	}
	return output{value}, err
}

// A tag is the text between {% and %}.
type tag struct{ name, rest string }

func newTag(text string) tag {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, " \t\r\n")
	if end < 0 {
		return tag{name: text}
	}
	return tag{text[:end], strings.TrimSpace(text[end:])}
}

// tag parses the piece that a tag begins, including its end tag.
func (p *parser) tag(t tag) (piece, error) {
	switch t.name {
	case "if":
		return p.choice(t)
	case "for":
		return p.loop(t)
	case "set":
		name, rest, found := strings.Cut(t.rest, "=")
		value, err := p.expression(t, rest)
		if name = strings.TrimSpace(name); !found || !isName(name) {
			return nil, t.wrong()
		}
		if err != nil {
			return nil, err
		}
		return &assignment{name, value}, nil
	case "include", "extends":
		name, err := p.expression(t, t.rest)
		if err != nil {
			return nil, err
		}
		if t.name == "include" {
			return inclusion{name}, nil
		}
		p.extends = name
		return nil, nil
	case "block":
		if !isName(t.rest) {
			return nil, t.wrong()
		}
		pieces, _, err := p.until("endblock")
		return &block{t.rest, pieces}, err
	case "raw":
		if t.rest != "" {
			return nil, t.wrong()
		}
		return nil, nil // the text up to its end tag is already a plain part
	}
	return nil, fmt.Errorf("unknown tag %q", t.name)
}

// expression parses the expression of a tag.
func (p *parser) expression(t tag, text string) (expression, error) {
	e, err := p.work.expression(text)
	if errors.Is(err, errExpression) {
		return nil, t.wrong()
	}
	return e, err
}

func (t tag) wrong() error { return fmt.Errorf("the tag %s is not complete: %q", t.name, t.rest) }

func (p *parser) choice(t tag) (piece, error) {
	var branches choice
	for {
		var condition expression
		if t.name != "else" {
			var err error
			if condition, err = p.expression(t, t.rest); err != nil {
				return nil, err
			}
		}
		ends := []string{"elif", "else", "endif"}
		if t.name == "else" {
			ends = ends[2:]
		}
		pieces, end, err := p.until(ends...)
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch{condition, pieces})
		if end.name == "endif" {
			return branches, nil
		}
		t = end
	}
}

func (p *parser) loop(t tag) (piece, error) {
	name, rest, found := strings.Cut(t.rest, " in ")
	list, err := p.expression(t, rest)
	if name = strings.TrimSpace(name); !found || !isName(name) {
		return nil, t.wrong()
	}
	if err != nil {
		return nil, err
	}
	pieces, _, err := p.until("endfor")
	return &loop{name, list, pieces}, err
}
