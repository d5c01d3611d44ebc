package jsontree

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scan reads a document several times as fast as the decoder does. Its texts are parts of one string, and nodes are
// allocated in batches. It also reads documents with defects. If sound is false, the document must be reviewed; the
// root of invalid JSON has no meaning.
func scan(text string) (root *Node, sound bool) {
	s := scanner{text: strings.TrimPrefix(text, bom)}
	s.invalid = !utf8.ValidString(s.text)
	s.unsound = s.invalid || len(s.text) < len(text)
	count := func(c string) int { return strings.Count(s.text, c) }
	s.values = 1 + count(",") + count("{") + count("[") // an estimate, a little high if strings have these characters
	s.members = count(":")
	var open struct { // most documents have no more than this many at a time
		names [few]string
		items [few]*Node
	}
	s.names, s.items = open.names[:0], open.items[:0]
	root = s.value(1)
	s.blanks()
	return root, root != nil && s.at == len(s.text) && !s.unsound
}

const (
	few      = 24  // members that are being read at the same time, in most documents
	maxCarve = 256 // the largest batch of an allocation
)

type scanner struct {
	text            string
	at              int
	values, members int // upper bounds for the document

	invalid bool // some bytes are not UTF-8
	unsound bool // the document has a defect, or may have one

	// In a summarized document, mark is the index of the next mark.
	doc  *summary
	mark int

	// names and items belong to the objects and arrays that are being read. Each takes its own from the end when it is
	// complete.
	names []string
	items []*Node

	// like has the names of the last object, by number of members, if they are unique. The objects of a list mostly
	// have the same names.
	like [8][]string

	free struct { // allocated, and not yet part of the tree
		nodes []Node
		names []string
		items []*Node
	}
}

// next returns the next byte, or 0 at the end. Valid JSON has no NUL outside strings.
func (s *scanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && s.text[s.at] <= ' ' {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// take skips blanks, and then the given byte if it is next.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) node(kind Kind) *Node {
	n := &carve(&s.free.nodes, 1, s.values)[0]
	n.Kind = kind
	return n
}

// carve takes n elements from the free ones. If they do not suffice, it allocates a batch of at most all elements.
func carve[E any](free *[]E, n, all int) []E {
	if len(*free) < n {
		*free = make([]E, max(n, min(all, maxCarve)))
	}
	part := (*free)[:n:n]
	*free = (*free)[n:]
	return part
}

// cut moves the last items into a slice of their own, or returns nil if there are none.
func (s *scanner) cut(first int) (items []*Node) {
	if n := len(s.items) - first; n > 0 {
		items = carve(&s.free.items, n, s.values)
		copy(items, s.items[first:])
		s.items = s.items[:first]
	}
	return items
}

// value reads the next value, or returns nil if there is none.
func (s *scanner) value(depth int) *Node {
	s.blanks()
	switch c := s.next(); c {
	case '{':
		if n := s.marked(); n != nil {
			return n
		}
		s.at++
		return s.object(depth)
	case '[':
		if n := s.marked(); n != nil {
			return n
		}
		s.at++
		return s.array(depth)
	case '"':
		text, ok := s.string()
		if !ok {
			return nil
		}
		n := s.node(String)
		n.Text = text
		return n
	case 't':
		return s.literal(Boolean, "true")
	case 'f':
		return s.literal(Boolean, "false")
	case 'n':
		return s.literal(Null, "null")
	default:
		return s.number()
	}
}

func (s *scanner) literal(kind Kind, text string) *Node {
	if !strings.HasPrefix(s.text[s.at:], text) {
		return nil
	}
	s.at += len(text)
	n := s.node(kind)
	if kind != Null {
		n.Text = text
	}
	return n
}

func (s *scanner) number() *Node {
	from := s.at
	if !s.skipNumber() {
		return nil
	}
	n := s.node(Number)
	n.Text = s.text[from:s.at]
	return n
}

// skipNumber reads "[ minus ] int [ frac ] [ exp ]" (RFC 8259 §6).
func (s *scanner) skipNumber() bool {
	if s.next() == '-' {
		s.at++
	}
	if s.next() == '0' {
		s.at++
	} else if !s.digits() {
		return false
	}
	if s.next() == '.' {
		s.at++
		if !s.digits() {
			return false
		}
	}
	if c := s.next(); c == 'e' || c == 'E' {
		s.at++
		if c := s.next(); c == '+' || c == '-' {
			s.at++
		}
		if !s.digits() {
			return false
		}
	}
	return true
}

// digits skips digits, and returns false if there are none.
func (s *scanner) digits() bool {
	from := s.at
	for c := s.next(); '0' <= c && c <= '9'; c = s.next() {
		s.at++
	}
	return s.at > from
}

// string reads a string and returns its value.
func (s *scanner) string() (text string, ok bool) {
	from, in := s.at, s.text
	at := from + 1
	for at < len(in) && classes[in[at]]&ends == 0 {
		at++
	}
	if at < len(in) && in[at] == '"' {
		s.at = at + 1
		if text = in[from+1 : at]; !s.invalid || utf8.ValidString(text) {
			return text, true
		}
		return unquote(in[from:s.at]), true
	}
	s.at = at
	if !s.skipEscaped() {
		return "", false
	}
	var room [128]byte
	b, err := unescape(room[:0], in[from:s.at])
	switch {
	case err != nil: // a lone half of a surrogate pair, or an invalid escape
		s.unsound = true
		return unquote(in[from:s.at]), true
	case s.invalid && !utf8.Valid(b):
		return unquote(in[from:s.at]), true
	}
	return string(b), true
}

// unescape appends the decoded form of a quoted string without control characters.
func unescape(b []byte, quoted string) ([]byte, error) {
	first := len(b)
	for rest := quoted[1 : len(quoted)-1]; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			return append(b, rest...), nil
		}
		c := shortEscapes[rest[i+1]]
		if c == 0 { // \u, or an invalid escape
			return jsontext.AppendUnquote(b[:first], quoted)
		}
		b = append(append(b, rest[:i]...), c)
		rest = rest[i+2:]
	}
}

// shortEscapes are the characters with an escape of two characters (RFC 8259 §7).
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// skipEscaped skips the rest of a string, starting at an escape.
func (s *scanner) skipEscaped() bool {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return true
		case c == '\\':
			s.at++
		case c < ' ':
			return false
		}
	}
	return false
}

func (s *scanner) array(depth int) *Node {
	if depth > MaxDepth {
		return nil
	}
	first := len(s.items)
	for !s.take(']') {
		if len(s.items) > first && !s.take(',') {
			return nil
		}
		item := s.value(depth + 1)
		if item == nil {
			return nil
		}
		s.items = append(s.items, item)
	}
	n := s.node(Array)
	n.Items = s.cut(first)
	return n
}

func (s *scanner) object(depth int) *Node {
	if depth > MaxDepth {
		return nil
	}
	firstName, firstItem := len(s.names), len(s.items)
	for !s.take('}') {
		if len(s.items) > firstItem && !s.take(',') {
			return nil
		}
		if s.blanks(); s.next() != '"' {
			return nil
		}
		name, ok := s.string()
		if !ok || !s.take(':') {
			return nil
		}
		s.names = append(s.names, name) // before the value, which adds its own names behind it and removes them
		item := s.value(depth + 1)
		if item == nil {
			return nil
		}
		s.items = append(s.items, item)
	}
	n := s.node(Object)
	n.Items = s.cut(firstItem)
	names := s.names[firstName:]
	s.names = s.names[:firstName]
	if len(names) == 0 {
		return n
	}
	n.Names = carve(&s.free.names, len(names), s.members)
	copy(n.Names, names)
	like := &s.like[len(names)%len(s.like)]
	if len(names) <= small && slices.Equal(*like, names) {
		n.unique = true
		return n
	}
	*like = n.Names
	if n.makeIndex(); !n.unique {
		*like, s.unsound = nil, true
	}
	return n
}

// makeIndex prepares a complete object for searching, and records whether its names are unique.
func (n *Node) makeIndex() {
	n.unique = true
	if len(n.Names) <= small {
		for i, name := range n.Names {
			n.unique = n.unique && !slices.Contains(n.Names[:i], name)
		}
		return
	}
	index := make(map[string]int, len(n.Names))
	for i, name := range n.Names {
		index[name] = i
	}
	n.rest = &rest{index: index}
	n.unique = len(index) == len(n.Names)
}
