// Package jsontree reads a JSON document the way a judge needs it: nothing is rounded, reordered or forgiven in silence.
//
// Numbers keep their digits, objects their order and their repeated names. What a lenient parser would pass over (a byte
// order mark, bytes that are not UTF-8, a repeated name, text behind the value) is read as well, and reported as a
// Defect beside the tree. Only a document that has no value to compare is an error.
package jsontree

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the type of a JSON value.
type Kind byte

// The kinds, in the order in which their names sort.
const (
	Array   Kind = '['
	Boolean Kind = 't'
	Null    Kind = 'n'
	Number  Kind = '0'
	Object  Kind = '{'
	String  Kind = '"'
)

// String returns the kind as JSON Schema calls it.
func (k Kind) String() string {
	switch k {
	case Array:
		return "array"
	case Boolean:
		return "boolean"
	case Null:
		return "null"
	case Number:
		return "number"
	case Object:
		return "object"
	case String:
		return "string"
	}
	return fmt.Sprintf("Kind(%q)", byte(k))
}

// A Node is one value of a document.
type Node struct {
	Kind Kind

	shut   bool   // Open has not been called
	unique bool   // the object has members, and no name stands in it twice; false when that is not known
	mark   uint32 // of an array or object that is a mark of a summarized document; doc is that then

	// Text is a string's value, a number's digits as they were written, or "true" and "false". A string that has half of a
	// surrogate pair is not UTF-8 there: see unquote.
	Text string
	// Names are the names of an object's members, in order; Items their values, or an array's elements.
	Names []string
	Items []*Node

	rest *rest // of few
}

// The rest of a node is what most of them do not have: trees are made of many, and all but the largest are read in no time.
type rest struct {
	index map[string]int // finds the last member of a name; nil while the object is small enough to be searched
	doc   *summary
}

// small is the number of members up to which searching an object beats a map.
const small = 16

// Member returns the last member of that name, which is the one most readers take, or nil.
func (n *Node) Member(name string) *Node {
	n.Open()
	if n.rest != nil && n.rest.index != nil {
		if i, ok := n.rest.index[name]; ok {
			return n.Items[i]
		}
		return nil
	}
	for i := len(n.Names) - 1; i >= 0; i-- {
		if n.Names[i] == name {
			return n.Items[i]
		}
	}
	return nil
}

// Unique reports whether it is known that no name of an object stands in it twice.
func (n *Node) Unique() bool { return n.unique || len(n.Names) == 0 }

// MemberAt is Member when the name is likely to be that of the i-th member, as it is in two objects that one program wrote.
func (n *Node) MemberAt(name string, i int) *Node {
	if n.unique && i < len(n.Names) && n.Names[i] == name {
		return n.Items[i]
	}
	return n.Member(name)
}

// A Defect is something in a document that a strict reader refuses and a lenient one hides.
type Defect struct {
	Kind    DefectKind
	Pointer string // JSON Pointer (RFC 6901) of the place; empty for the whole document
	Text    string // for a person
}

// DefectKind names a defect.
type DefectKind string

// The defects.
const (
	ByteOrderMark DefectKind = "byte-order-mark"
	InvalidUTF8   DefectKind = "invalid-utf8"
	DuplicateName DefectKind = "duplicate-name"
	TrailingText  DefectKind = "trailing-text"
)

// MaxDepth is how deep arrays and objects may be nested; a deeper document is an error.
const MaxDepth = 10_000

const bom = "\xef\xbb\xbf"

// Parse reads one document. The error says why there is no tree: the text is not JSON (RFC 8259), or is nested too deep.
// A defective document has a tree all the same: invalid bytes read as U+FFFD, both members of a repeated name are kept.
func Parse(data []byte) (*Node, []Defect, error) {
	return parse(string(data))
}

func parse(text string) (*Node, []Defect, error) {
	root, sound := scan(text)
	if sound {
		return root, nil, nil
	}
	defects, err := review(text)
	if err != nil {
		return nil, defects, err
	}
	return root, defects, nil
}

// Value returns the tree as encoding/json would: map[string]any, []any, string, json.Number, bool and nil. Of a
// repeated name the last member counts.
func (n *Node) Value() any {
	n.Open()
	switch n.Kind {
	case Array:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Value()
		}
		return out
	case Object:
		out := make(map[string]any, len(n.Items))
		for i, item := range n.Items {
			out[n.Names[i]] = item.Value()
		}
		return out
	case String:
		return n.Text
	case Number:
		return json.Number(n.Text)
	case Boolean:
		return n.Text == "true"
	default:
		return nil
	}
}

// String returns the value as JSON without blanks, its numbers as they were written.
func (n *Node) String() string {
	var room [64]byte
	return string(n.AppendTo(room[:0]))
}

// AppendTo appends what String returns.
func (n *Node) AppendTo(b []byte) []byte {
	n.Open()
	switch n.Kind {
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendTo(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = quote(b, n.Names[i])
			b = append(b, ':')
			b = item.AppendTo(b)
		}
		return append(b, '}')
	case String:
		return quote(b, n.Text)
	case Null:
		return append(b, "null"...)
	default:
		return append(b, n.Text...)
	}
}

func quote(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return quoteHalves(b, s)
	}
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
