// Package yamldoc reads YAML that people write by hand, and reports all mistakes at once, each with its place.
//
// A file becomes a tree of nodes with lines and columns. Values are read as in YAML 1.2: `no`, `on` and dates are
// strings, and numbers keep their digits. Constructs with surprising meanings are rejected with a fix: aliases, tags,
// duplicate keys, and numbers that JSON does not allow. The tree is then checked against a JSON Schema.
package yamldoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// Kind is the type of a node.
type Kind int

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String returns the kind as messages write it: "a list".
func (k Kind) String() string {
	switch k {
	case Null:
		return "empty"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case List:
		return "a list"
	case Map:
		return "a map"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// A Node is one value of a file.
type Node struct {
	Kind         Kind
	Text         string  // of a scalar: a string's value, a number's digits, "true" or "false"
	Keys         []*Node // of a map: strings, in order; each key's value is at the same index of Items
	Items        []*Node
	Line, Column int // 1-based
}

// Get returns the value of the key. It returns nil if the node is nil, not a map, or has no such key.
func (n *Node) Get(key string) *Node {
	_, v := n.Entry(key)
	return v
}

// Child returns what a token of a JSON Pointer leads to: the value of the key, or the element with the index. at has its
// place, which is that of the key in a map. Both are nil when there is none.
func (n *Node) Child(token string) (at, value *Node) {
	if items := n.Elements(); len(items) > 0 {
		if i, err := strconv.Atoi(token); err == nil && 0 <= i && i < len(items) {
			return items[i], items[i]
		}
	}
	return n.Entry(token)
}

// Entry returns the node of the key, which has its place, and the value.
func (n *Node) Entry(key string) (k, v *Node) {
	if n == nil {
		return nil, nil
	}
	for i, k := range n.Keys {
		if k.Text == key {
			return k, n.Items[i]
		}
	}
	return nil, nil
}

// Entries ranges over a map's keys and values. There are none if the node is nil or not a map.
func (n *Node) Entries() iter.Seq2[*Node, *Node] {
	return func(yield func(k, v *Node) bool) {
		if n == nil {
			return
		}
		for i, k := range n.Keys {
			if !yield(k, n.Items[i]) {
				return
			}
		}
	}
}

// Elements returns a list's items. There are none if the node is nil or not a list.
func (n *Node) Elements() []*Node {
	if n == nil || n.Kind != List {
		return nil
	}
	return n.Items
}

// Str returns the text of a scalar, or "" for nil.
func (n *Node) Str() string {
	if n == nil {
		return ""
	}
	return n.Text
}

// Value returns the tree as encoding/json would with UseNumber.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Value()
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Items))
		for i, item := range n.Items {
			out[n.Keys[i].Text] = item.Value()
		}
		return out
	default:
		return nil
	}
}

// These bounds are far above what people write, and limit the cost of a hostile file.
const (
	maxBytes = 4 << 20
	maxDepth = 100
)

// Parse reads a file with one document. The node is nil if there are problems.
func Parse(file string, data []byte) (*Node, problem.Problems) {
	if len(data) > maxBytes {
		return nil, problem.Problems{{
			File: file, What: fmt.Sprintf("the file has %d bytes", len(data)), Fix: fmt.Sprintf("keep it below %d bytes", maxBytes),
		}}
	}
	d := Read(file, data)
	if d.Root == nil && d.Mistakes == nil {
		return nil, problem.Problems{{File: file, What: "the file is empty"}}
	}
	if problems := slices.Concat(d.Mistakes, d.Unusual); len(problems) > 0 {
		return nil, problems.Sort()
	}
	return d.Root, nil
}

// A Document is a text that was read as YAML.
type Document struct {
	Root     *Node            // nil if the text is empty, or is not YAML
	Mistakes problem.Problems // errors in YAML, and duplicate keys
	Unusual  problem.Problems // constructs that YAML allows, but that Root does not have or that parsers read differently
}

// Read reads a text of any size, whatever problems it has.
func Read(file string, data []byte) Document {
	r := reader{file: file}
	dec := newDecoder(data)
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return r.read
	} else if err != nil {
		r.syntax(err, data)
		return r.read
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		r.unusual(&second, "a second document begins", "put it into a separate file")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err, data)
	}
	r.read.Root = r.node(doc.Content[0], 0)
	return r.read
}

type reader struct {
	file string
	read Document
}

func (r *reader) mistake(line, column int, what, fix string) {
	r.read.Mistakes = append(r.read.Mistakes, problem.Problem{File: r.file, Line: line, Column: column, What: what, Fix: fix})
}

func (r *reader) unusual(y *yaml.Node, what, fix string) {
	r.read.Unusual = append(r.read.Unusual, problem.Problem{File: r.file, Line: y.Line, Column: y.Column, What: what, Fix: fix})
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func (r *reader) node(y *yaml.Node, depth int) *Node {
	n := &Node{Line: y.Line, Column: y.Column}
	if depth > maxDepth {
		r.unusual(y, "values are nested too deep", fmt.Sprintf("nest at most %d deep", maxDepth))
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		r.unusual(y, "alias *"+y.Value, "write the value out; anchors and aliases are not supported")
	case yaml.MappingNode:
		r.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, r.node(item, depth+1))
		}
	case yaml.ScalarNode:
		r.scalar(n, y)
	}
	if y.Style&yaml.TaggedStyle != 0 {
		r.unusual(y, "tag "+y.Tag, "leave the tag out; quote the value if it is a string")
	}
	return n
}

func (r *reader) mapping(n *Node, y *yaml.Node, depth int) {
	n.Kind = Map
	lines := map[string]int{} // by key
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			r.unusual(k, "a key that is not a word", "use a string as the key")
			continue
		case k.Tag == "!!merge":
			r.unusual(k, "merge key <<", "write the keys out")
			continue
		}
		if first := lines[k.Value]; first > 0 {
			r.mistake(k.Line, k.Column, fmt.Sprintf("duplicate key %q, first in line %d", k.Value, first), "remove one of them")
			continue
		}
		lines[k.Value] = k.Line
		n.Keys = append(n.Keys, &Node{Kind: String, Text: k.Value, Line: k.Line, Column: k.Column})
		n.Items = append(n.Items, r.node(v, depth+1))
	}
}

func (r *reader) scalar(n *Node, y *yaml.Node) {
	n.Text = y.Value
	plain := y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch {
	case plain && jsonNumber.MatchString(y.Value): // includes 1e400, which the parser reads as a string
		n.Kind = Number
	case y.Tag == "!!null":
		n.Kind, n.Text = Null, ""
	case y.Tag == "!!bool":
		n.Kind, n.Text = Bool, strings.ToLower(y.Value)
	case y.Tag == "!!int", y.Tag == "!!float":
		n.Kind = Number
		r.unusual(y, fmt.Sprintf("number %s is not written as JSON writes numbers", y.Value), "write it in decimal digits, or quote it if it is a string")
	default: // !!str and !!timestamp; YAML 1.2 has no timestamps
		n.Kind = String
	}
}
