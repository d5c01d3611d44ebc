// Package jsontree reads a JSON document as a judge needs it: nothing is rounded, reordered or silently corrected.
//
// Numbers keep their digits. Objects keep their order and their duplicate names. What a lenient parser would ignore
// (a byte order mark, invalid UTF-8, a duplicate name, trailing text) is read as well, and reported as a Defect next
// to the tree. Only a document without a value to compare is an error.
package jsontree

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the type of a JSON value.
type Kind byte

// The kinds are in the alphabetical order of their names.
const (
	Array   Kind = '['
	Boolean Kind = 't'
	Null    Kind = 'n'
	Number  Kind = '0'
	Object  Kind = '{'
	String  Kind = '"'
)

// String returns the name of the kind in JSON Schema.
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
	unique bool   // the object has members, and no duplicate names; false if unknown
	mark   uint32 // the index of its mark, if it has one in a summarized document

	// Text is a string's value, a number's digits as written, or "true" or "false". If a string has half of a
	// surrogate pair, its text is not UTF-8: see unquote.
	Text string
	// Names are the names of an object's members, in order. Items are their values, or an array's elements.
	Names []string
	Items []*Node

	rest *rest // nil for most nodes
}

// The rest has the fields that few nodes need. Trees have many nodes, so a node must be small.
type rest struct {
	index map[string]int // the last member of each name; nil for objects that are small enough to search
	doc   *summary
}

// small is the number of members up to which a linear search is faster than a map.
const small = 16

// Member returns the last member with the given name, as most parsers do, or nil.
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

// Unique reports whether an object is known to have no duplicate names.
func (n *Node) Unique() bool { return n.unique || len(n.Names) == 0 }

// MemberAt is Member, optimised for an object whose i-th member probably has the name, because the same program wrote
// both objects.
func (n *Node) MemberAt(name string, i int) *Node {
	if n.unique && i < len(n.Names) && n.Names[i] == name {
		return n.Items[i]
	}
	return n.Member(name)
}

// A Defect is something in a document that a strict parser rejects and a lenient one hides.
type Defect struct {
	Kind    DefectKind
	Pointer string // JSON Pointer (RFC 6901) of the place; "" for the whole document
	Text    string // for people
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

// Parse reads one document. The error says why there is no tree: the text is not JSON (RFC 8259), or is nested too
// deeply. A document with defects has a tree: invalid bytes become U+FFFD, and duplicate members are kept.
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

// Value returns the tree as encoding/json would: map[string]any, []any, string, json.Number, bool and nil. The last
// of several members with the same name wins.
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

// String returns the value as JSON without blanks. Numbers keep their spelling.
func (n *Node) String() string {
	var room [64]byte
	return string(n.AppendTo(room[:0]))
}

// AppendTo appends the text that String returns.
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
