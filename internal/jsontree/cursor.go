package jsontree

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A Cursor reads an array or an object of a summarized document value by value, without building a tree. The summary
// has checked that the document is valid JSON, so a cursor has no errors. The caller must check the kind of the next
// value before reading it.
type Cursor struct{ s scanner }

// Cursor returns a cursor at the start of the value. ok is false if the value already has a tree, or the document has
// no summary.
func (n *Node) Cursor() (c Cursor, ok bool) {
	if n.rest == nil || !n.shut {
		return Cursor{}, false
	}
	doc := n.rest.doc
	m := doc.marks[n.mark]
	return Cursor{doc.scanner(int(m.start), int(m.end-m.start), int(n.mark))}, true
}

// Kind returns the kind of the next value.
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

// Offset returns where the next value begins in the document. Call Kind first.
func (c *Cursor) Offset() int { return c.s.at }

// SkipPlain skips the next arrays or objects if both are known to be equal, and have no text that bare changes.
func SkipPlain(a, b *Cursor) bool {
	ma, mb := a.atMark(), b.atMark()
	if ma == nil || mb == nil || ma.sum != mb.sum || (ma.traits|mb.traits)&hasBare != 0 {
		return false
	}
	a.s.at, a.s.mark = int(ma.end), int(ma.next)
	b.s.at, b.s.mark = int(mb.end), int(mb.next)
	return true
}

// atMark returns the mark that begins here, or nil if there is none. Call Kind first.
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

// Enter enters the next array or object.
func (c *Cursor) Enter() { c.s.at++ }

// More moves to the next element or member. At the closing bracket end it leaves the array or object, and returns
// false.
func (c *Cursor) More(end byte) bool {
	if c.s.take(end) {
		return false
	}
	c.s.take(',')
	c.s.blanks()
	return true
}

// String reads a string. The text is what is between the quotes, with its escapes.
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

// Unquote decodes a text of String.
func Unquote(text string) string {
	b, err := jsontext.AppendUnquote(nil, `"`+text+`"`)
	if err != nil {
		panic("jsontree: a text that was read cannot be read again: " + err.Error())
	}
	return string(b)
}

// Name reads the name of a member as String does.
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

// Literal skips null, true or false.
func (c *Cursor) Literal() {
	if c.s.next() == 'f' {
		c.s.at++
	}
	c.s.at += len("null")
}

// Node reads the value at an offset as a tree, except for marked values in it, and moves the cursor behind it.
func (c *Cursor) Node(offset int) *Node {
	c.s.at = offset
	c.s.mark, _ = slices.BinarySearchFunc(c.s.doc.marks, uint32(offset), func(m mark, at uint32) int { return int(m.start) - int(at) })
	return c.s.value(1)
}
