package spec

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A source finds the line of a place in the text of a document.
//
// The loader can record lines too, but that doubles its time, and it has no lines for documents in JSON and for
// extensions. Only a few places need a line, so each is looked up on its own. YAML indents what belongs to a key deeper
// than the key itself (YAML 1.2 §8.2.1), and JSON that is written for people is indented in the same way. Everything in
// flow style on one line has that line.
type source struct {
	text  string
	lines func() []textLine
	known sync.Map // reference → line and column
}

// A textLine is a line without its indentation. Blank lines and comments are empty.
type textLine struct {
	indent int
	text   string
}

func newSource(text string) *source {
	s := &source{text: text}
	s.lines = sync.OnceValue(func() []textLine {
		var lines []textLine
		for text := range strings.Lines(s.text) {
			text = strings.TrimRight(text, " \t\r\n")
			content := strings.TrimLeft(text, " \t")
			if strings.HasPrefix(content, "#") {
				content = ""
			}
			lines = append(lines, textLine{len(text) - len(content), content})
		}
		return lines
	})
	return s
}

// Line returns the line of the place that a reference points to ("#/info/title"), or of the nearest enclosing place. It
// returns 0 when the document has no such place at all.
func (s *source) Line(ref string) int {
	line, _ := s.position(ref)
	return line
}

func (s *source) position(ref string) (line, column int) {
	if p, ok := s.known.Load(ref); ok {
		return p.([2]int)[0], p.([2]int)[1]
	}
	if b, _ := s.find(ref); b.line >= 0 {
		line, column = b.line+1, b.column+1
	}
	s.known.Store(ref, [2]int{line, column})
	return line, column
}

// Problem returns a mistake at a place.
func (s *source) Problem(ref, what, fix string) problem.Problem {
	line, column := s.position(ref)
	return problem.Problem{Line: line, Column: column, What: what, Fix: fix}
}

// Keys lists the names of the object at a place, in order. It returns nothing when they have no lines of their own.
func (s *source) Keys(ref string) []string {
	b, ok := s.find(ref)
	if !ok {
		return nil
	}
	var names []string
	for i := range b.children() {
		if name, ok := key(b.at(i).text); ok {
			names = append(names, name)
		}
	}
	return names
}

// firstUse returns where a reference first occurs in the text; 0 when it does not occur.
func (s *source) firstUse(ref string) (line, column int) {
	for i, l := range s.lines() {
		for from := 0; ; {
			at := strings.Index(l.text[from:], ref)
			if at < 0 {
				break
			}
			at, from = from+at, from+at+len(ref)
			if from == len(l.text) || !strings.ContainsRune(refRunes, rune(l.text[from])) {
				return i + 1, l.indent + utf8.RuneCountInString(l.text[:at]) + 1
			}
		}
	}
	return 0, 0
}

// refRunes are the characters that can continue a reference.
const refRunes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-~/%"

// find descends along a reference. It returns the block of the last token that it found, and whether it found all
// tokens.
func (s *source) find(ref string) (block, bool) {
	b := block{lines: s.lines(), line: -1, end: len(s.lines()), opened: -1}
	if len(b.lines) > 0 && b.lines[0].text == "{" {
		b.start = 1 // the document is JSON
	}
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return b, false
	}
	for token := range strings.SplitSeq(pointer, "/") {
		next, ok := b.child(jsontree.UnescapeName(token))
		if !ok {
			return b, false
		}
		b = next
	}
	return b, true
}

// A block is what belongs to one key: the lines from start to end.
type block struct {
	lines      []textLine
	line       int // the line of the key; -1 for the whole document
	column     int // the column of the key
	start, end int
	// The first line of a list element also has its dash. opened is the index of that line, and inside is the line
	// without the dash.
	opened int
	inside textLine
}

func (b block) at(i int) textLine {
	if i == b.opened {
		return b.inside
	}
	return b.lines[i]
}

// children yields the first lines of the block's own keys or elements: those with the indentation of the first.
func (b block) children() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		indent := -1
		for i := b.start; i < b.end; i++ {
			l := b.at(i)
			if l.text == "" {
				continue
			}
			if indent < 0 {
				indent = l.indent
			}
			if l.indent < indent {
				return
			}
			if l.indent == indent && !closes(l.text) && !yield(i) {
				return
			}
		}
	}
}

// child returns the block of a key or, by its number, of an element.
func (b block) child(token string) (block, bool) {
	index, err := strconv.Atoi(token)
	element := 0
	for i := range b.children() {
		l := b.at(i)
		if name, ok := key(l.text); ok {
			if name == token {
				return b.of(i, l), true
			}
			continue
		}
		if err == nil && element == index {
			return b.of(i, l), true
		}
		element++
	}
	return block{}, false
}

// of returns the block of the key or element on line i.
func (b block) of(i int, l textLine) block {
	n := block{lines: b.lines, line: i, column: l.indent, start: i + 1, end: i + 1, opened: -1}
	rest, dash := strings.CutPrefix(l.text, "-")
	for n.end < b.end {
		next := b.lines[n.end]
		if next.text != "" && (next.indent < l.indent || next.indent == l.indent && (dash || !strings.HasPrefix(next.text, "-"))) {
			break
		}
		n.end++
	}
	if content := strings.TrimLeft(rest, " "); dash && content != "" {
		n.start, n.opened = i, i
		n.inside = textLine{l.indent + len(l.text) - len(content), content}
	}
	return n
}

func closes(text string) bool { return text[0] == '}' || text[0] == ']' }

// key returns the name at the beginning of a line of a mapping.
func key(text string) (string, bool) {
	switch text[0] {
	case '"':
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil || !strings.HasPrefix(text[len(quoted):], ":") {
			return "", false
		}
		name, err := strconv.Unquote(quoted)
		return name, err == nil
	case '\'':
		end := strings.Index(text[1:], "'")
		if end < 0 || !strings.HasPrefix(text[end+2:], ":") {
			return "", false
		}
		return text[1 : end+1], true
	case '-', '{', '[':
		return "", false
	}
	if name, _, ok := strings.Cut(text, ": "); ok {
		return name, true
	}
	return strings.CutSuffix(text, ":")
}

// Notes collect the mistakes of a document, and the parts of it that cannot be judged.
type notes struct {
	source   *source
	Problems problem.Problems
	Unjudged problem.Problems
}

func (n *notes) Problem(ref, what, fix string) {
	n.Problems = append(n.Problems, n.source.Problem(ref, what, fix))
}

func (n *notes) Skip(ref, what, fix string) {
	n.Unjudged = append(n.Unjudged, n.source.Problem(ref, what, fix))
}
