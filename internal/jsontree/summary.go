package jsontree

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A summary describes a document that was read once but is not yet a tree: where its larger arrays and objects begin
// and end, and the sum of each.
type summary struct {
	text  string
	marks []mark // in the order in which they begin
	rest  *rest  // for the nodes of marks
}

// A mark is an array or object of at least markFrom bytes. Reading a smaller one again is faster than finding its
// mark.
type mark struct {
	start, end uint32
	next       uint32 // index of the first mark that does not begin inside this one
	traits     traits
	sum        Sum
}

const markFrom = 128

// traits are properties of a value that were found when it was read.
type traits uint8

const (
	hasBare   traits = 1 << iota // the sum of a text or number was made from a changed form
	hasHidden                    // a letter or digit is written as an escape
)

// Summarize reads a document without defects and computes sums of its parts; it returns false for other documents.
// Trees of arrays and objects are built when they are opened. bare removes from a text what must not influence its
// sum.
func Summarize(data []byte, bare func(string) string) (root *Node, ok bool) {
	if len(data) > math.MaxUint32 {
		return nil, false
	}
	s := summer{doc: &summary{text: string(data), marks: make([]mark, 0, 1+len(data)/(2*markFrom))}, bare: bare}
	s.doc.rest = &rest{doc: s.doc}
	s.scanner.text = s.doc.text
	if !utf8.ValidString(s.text) {
		return nil, false
	}
	s.blanks()
	start := s.at
	if _, _, ok := s.value(1); !ok {
		return nil, false
	}
	s.blanks()
	if s.at != len(s.text) {
		return nil, false
	}
	open := s.doc.scanner(start, s.at-start, 0)
	root = open.value(1)
	return root, root != nil
}

// scanner returns a scanner that reads a part of the document into a tree. It does not read marked values, starting
// with the given mark.
func (d *summary) scanner(start, size, mark int) scanner {
	return scanner{text: d.text, at: start, values: 1 + size/16, members: 1 + size/16, doc: d, mark: mark}
}

// Open reads the items of an array or object in a summarized document. All methods of a Node call it.
func (n *Node) Open() {
	if n.shut {
		n.open()
	}
}

func (n *Node) open() {
	doc := n.rest.doc
	m := doc.marks[n.mark]
	s := doc.scanner(int(m.start), int(m.end-m.start), int(n.mark)+1)
	s.at++
	var full *Node
	if n.Kind == Array {
		full = s.array(1)
	} else {
		full = s.object(1)
	}
	n.Names, n.Items, n.unique, n.shut = full.Names, full.Items, full.unique, false
	if full.rest != nil {
		n.rest = &rest{index: full.rest.index, doc: doc}
	}
}

// Summary returns the sum and the text of an array or object in a summarized document. plain reports that bare
// changed none of its texts, hidden that a letter or digit is written as an escape.
func (n *Node) Summary() (sum Sum, text string, plain, hidden, ok bool) {
	if n.rest == nil || n.rest.doc == nil {
		return 0, "", false, false, false
	}
	doc := n.rest.doc
	m := doc.marks[n.mark]
	return m.sum, doc.text[m.start:m.end], m.traits&hasBare == 0, m.traits&hasHidden != 0, true
}

// marked returns the node of the mark that begins here, or nil if there is none.
func (s *scanner) marked() *Node {
	if s.doc == nil || s.mark == len(s.doc.marks) || s.doc.marks[s.mark].start != uint32(s.at) {
		return nil
	}
	m := s.doc.marks[s.mark]
	n := s.node(Kind(s.text[s.at]))
	n.rest, n.mark, n.shut = s.doc.rest, uint32(s.mark), true
	s.at, s.mark = int(m.end), int(m.next)
	return n
}

// A summer reads a document and computes sums.
type summer struct {
	scanner
	doc  *summary
	bare func(string) string

	names []Sum // of the objects that are being read
	spare []Sum
	buf   []byte
}

var (
	sumTrue  = SumText(Boolean, "true")
	sumFalse = SumText(Boolean, "false")
	sumNull  = SumText(Null, "")
)

func (s *summer) value(depth int) (Sum, traits, bool) {
	switch c := s.next(); c {
	case '{', '[':
		return s.items(c, depth)
	case '"':
		text, has, ok := s.string()
		if !ok {
			return 0, 0, false
		}
		sum, t := s.sum(String, text, has)
		return sum, t, true
	case 't':
		return sumTrue, 0, s.literal("true")
	case 'f':
		return sumFalse, 0, s.literal("false")
	case 'n':
		return sumNull, 0, s.literal("null")
	default:
		return s.number()
	}
}

func (s *summer) literal(text string) bool {
	ok := strings.HasPrefix(s.text[s.at:], text)
	s.at += len(text)
	return ok
}

// items reads an array or object, and marks it if it is large.
func (s *summer) items(c byte, depth int) (sum Sum, t traits, ok bool) {
	if depth > MaxDepth {
		return 0, 0, false
	}
	start, at := s.at, len(s.doc.marks)
	s.doc.marks = append(s.doc.marks, mark{start: uint32(start)})
	s.at++
	if c == '[' {
		sum, t, ok = s.elements(depth)
	} else {
		sum, t, ok = s.members(depth)
	}
	if s.at-start < markFrom {
		s.doc.marks = s.doc.marks[:at]
		return sum, t, ok
	}
	s.doc.marks[at] = mark{uint32(start), uint32(s.at), uint32(len(s.doc.marks)), t, sum}
	return sum, t, ok
}

func (s *summer) elements(depth int) (Sum, traits, bool) {
	sum, t := SumEmpty(Array), traits(0)
	for first := true; !s.take(']'); first = false {
		if !first && !s.take(',') {
			return 0, 0, false
		}
		s.blanks()
		item, ti, ok := s.value(depth + 1)
		if !ok {
			return 0, 0, false
		}
		sum, t = sum.Element(item), t|ti
	}
	return sum, t, true
}

func (s *summer) members(depth int) (Sum, traits, bool) {
	sum, t := SumEmpty(Object), traits(0)
	names := len(s.names)
	var numbers map[Sum]int // counts members whose names became equal through bare
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return 0, 0, false
		}
		if s.blanks(); s.next() != '"' {
			return 0, 0, false
		}
		text, has, ok := s.string()
		if !ok || !s.take(':') {
			return 0, 0, false
		}
		name, number := SumText(String, text), 0
		s.names = append(s.names, name)
		bare, tn := s.sum(String, text, has)
		if tn&hasBare != 0 {
			if numbers == nil {
				numbers = map[Sum]int{}
			}
			number = numbers[bare]
			numbers[bare]++
		}
		s.blanks()
		item, ti, ok := s.value(depth + 1)
		if !ok {
			return 0, 0, false
		}
		sum, t = sum.Member(bare, number, item), t|tn|ti
	}
	ok := s.different(s.names[names:])
	s.names = s.names[:names]
	return sum, t, ok
}

// different reports whether the names of an object are unique, by their sums. If two different names ever had the
// same sum, the document would only be read the slow way.
func (s *summer) different(names []Sum) bool {
	if len(names) <= small {
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				return false
			}
		}
		return true
	}
	s.spare = append(s.spare[:0], names...)
	slices.SortFunc(s.spare, cmp.Compare[Sum])
	for i := 1; i < len(s.spare); i++ {
		if s.spare[i-1] == s.spare[i] {
			return false
		}
	}
	return true
}

// These classes say what a byte in a string means for the reader.
const (
	ends    = 1 << iota // ends the literal part of a string
	isDigit             // generated values have a digit, dash or slash, so bare keeps texts without them
	isDash              // a dash or a slash
	escapes             // a letter or digit written as an escape
)

var classes = func() (c [256]uint8) {
	for i := range ' ' {
		c[i] = ends
	}
	c['"'], c['\\'], c['-'], c['/'] = ends, ends, isDash, isDash
	for i := '0'; i <= '9'; i++ {
		c[i] = isDigit
	}
	return c
}()

// string reads a string, and returns its value and the classes of its bytes.
func (s *summer) string() (text string, has uint8, ok bool) {
	from, in := s.at, s.text
	at := from + 1
	for ; at < len(in); at++ {
		c := classes[in[at]]
		if c&ends != 0 {
			break
		}
		has |= c
	}
	if at < len(in) && in[at] == '"' {
		s.at = at + 1
		return in[from+1 : at], has, true
	}
	if s.at = at; !s.skipEscaped() {
		return "", 0, false
	}
	var err error
	if s.buf, err = unescape(s.buf[:0], in[from:s.at]); err != nil {
		return "", 0, false
	}
	for _, c := range s.buf {
		has |= classes[c] &^ ends
	}
	if hides(in[from:s.at]) {
		has |= escapes
	}
	return string(s.buf), has, true
}

// hides reports whether a string escapes a character that need not be escaped and may be part of an id: a letter, a
// digit, a dash, an underscore, a point or a colon.
func hides(quoted string) bool {
	for i := 0; i+5 < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		i++
		if quoted[i] != 'u' || quoted[i+1] != '0' || quoted[i+2] != '0' {
			continue
		}
		c, err := strconv.ParseUint(quoted[i+3:i+5], 16, 8)
		if err == nil && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= ':' || c == '-' || c == '.' || c == '_') {
			return true
		}
	}
	return false
}

// shortest is the length of the shortest text that a server could have generated: "/tmp/a".
const shortest = 6

// Plain reports whether the bytes alone show that a text has no generated part.
func Plain(text string) bool {
	if len(text) < shortest {
		return true
	}
	for i := range len(text) {
		if classes[text[i]]&(isDigit|isDash) != 0 {
			return false
		}
	}
	return true
}

func (s *summer) sum(kind Kind, text string, has uint8) (Sum, traits) {
	var t traits
	if has&escapes != 0 {
		t = hasHidden
	}
	if len(text) < shortest || has&(isDigit|isDash) == 0 {
		return SumText(kind, text), t
	}
	bare := s.bare(text)
	if len(bare) != len(text) || bare != text {
		t |= hasBare
	}
	return SumText(kind, bare), t
}

func (s *summer) number() (Sum, traits, bool) {
	from := s.at
	if !s.skipNumber() {
		return 0, 0, false
	}
	text := s.text[from:s.at]
	const digits = 9 // generated numbers are longer
	if len(text) <= digits && whole(text) {
		return SumText(Number, text), 0, true
	}
	if !IsInteger(text) { // an id is never written with a fraction or an exponent
		var room [32]byte
		return SumText(Number, string(appendDouble(room[:0], text))), 0, true
	}
	sum, t := s.sum(Number, Notation.Plain(text), isDigit)
	return sum, t, true
}
