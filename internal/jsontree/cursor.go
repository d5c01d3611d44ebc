package jsontree

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A Cursor reads an array or an object of a summarized document value by value, without making a tree of it. That it is
// JSON is known since the summary was made, so there is nothing to report: whoever asks first what kind of value comes
// next can only ask for what is there.
type Cursor struct{ s scanner }

// Cursor returns one that stands before the value; ok is false when there is a tree of it already, or no summary.
func (n *Node) Cursor() (c Cursor, ok bool) {
	if n.rest == nil || !n.shut {
		return Cursor{}, false
	}
	doc := n.rest.doc
	m := doc.marks[n.mark]
	return Cursor{doc.scanner(int(m.start), int(m.end-m.start), int(n.mark))}, true
}

// Kind returns the kind of the value that comes next.
func (c *Cursor) Kind() Kind {
	c.s.blanks()
	switch b := c.s.next(); b {
	case '{', '[', '"', 't', 'n':
		return Kind(b)
	case 'f':
		return Boolean
	default:
		return Number
	}
}

// Offset returns where in the document the next value begins, after Kind.
func (c *Cursor) Offset() int { return c.s.at }

// SkipPlain passes over the arrays or objects that come next when these are known to be equal, and bare has left them
// alone.
func SkipPlain(a, b *Cursor) bool {
	ma, mb := a.atMark(), b.atMark()
	if ma == nil || mb == nil || ma.sum != mb.sum || (ma.traits|mb.traits)&hasBare != 0 {
		return false
	}
	a.s.at, a.s.mark = int(ma.end), int(ma.next)
	b.s.at, b.s.mark = int(mb.end), int(mb.next)
	return true
}

// atMark returns the mark that begins here, after Kind; nil when there is none.
func (c *Cursor) atMark() *mark {
	marks := c.s.doc.marks
	for c.s.mark < len(marks) && marks[c.s.mark].start < uint32(c.s.at) {
		c.s.mark++
	}
	if c.s.mark < len(marks) && marks[c.s.mark].start == uint32(c.s.at) {
		return &marks[c.s.mark]
	}
	return nil
}

// Enter goes into the array or object that comes next.
func (c *Cursor) Enter() { c.s.at++ }

// More goes to the next element or member. At the end it leaves the array or object, which was opened by that bracket's
// counterpart, and returns false.
func (c *Cursor) More(end byte) bool {
	if c.s.take(end) {
		return false
	}
	c.s.take(',')
	c.s.blanks()
	return true
}

// String reads a string. The text is what stands between the quotes, escapes and all.
func (c *Cursor) String() (text string, escaped bool) {
	from := c.s.at + 1
	for c.s.at = from; c.s.text[c.s.at] != '"'; c.s.at++ {
		if c.s.text[c.s.at] == '\\' {
			escaped = true
			c.s.at++
		}
	}
	c.s.at++
	return c.s.text[from : c.s.at-1], escaped
}

// Unquote returns what a text of String stands for.
func Unquote(text string) string {
	b, err := jsontext.AppendUnquote(nil, `"`+text+`"`)
	if err != nil {
		panic("jsontree: a text that was read cannot be read again: " + err.Error())
	}
	return string(b)
}

// Name reads the name of a member, as String does.
func (c *Cursor) Name() (text string, escaped bool) {
	text, escaped = c.String()
	c.s.take(':')
	return text, escaped
}

// Number reads a number.
func (c *Cursor) Number() string {
	from := c.s.at
	c.s.skipNumber()
	return c.s.text[from:c.s.at]
}

// Literal passes over null, true or false.
func (c *Cursor) Literal() {
	if c.s.next() == 'f' {
		c.s.at++
	}
	c.s.at += len("null")
}

// Node reads the value at an offset as a tree, up to the marks in it, and goes behind it.
func (c *Cursor) Node(offset int) *Node {
	c.s.at = offset
	c.s.mark, _ = slices.BinarySearchFunc(c.s.doc.marks, uint32(offset), func(m mark, at uint32) int { return int(m.start) - int(at) })
	return c.s.value(1)
}
