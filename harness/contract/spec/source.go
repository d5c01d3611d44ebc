package spec

import (
	"bytes"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A source finds the line of a place in the text of a document.
//
// The loader can record lines too, but that doubles its time, and it has no lines for documents in JSON and for
// extensions.
type source struct {
	text   []byte
	strict func() error            // why the text is not JSON, or has defects
	loose  func() error            // why the text is not JSON
	nodes  func() yamldoc.Document // reads the text on the first call; see open
	open   func(*yamldoc.Node)     // reads the content of a node, unless it has been read
	known  sync.Map                // reference → problem.Problem with its place
	places []problem.Place         // of the lines; nil if the text is that of the document's only file
}

// newSource returns the lines of a document in YAML or JSON.
func newSource(text []byte) *source {
	s := &source{text: text, open: func(*yamldoc.Node) {}}
	s.strict = sync.OnceValue(func() error { return checkJSON(text) })
	s.loose = sync.OnceValue(func() error {
		if s.strict() == nil {
			return nil
		}
		return checkJSON(text, lenient...)
	})
	s.nodes = sync.OnceValue(func() yamldoc.Document {
		if !s.beginsAsJSON() || s.loose() != nil {
			return yamldoc.Read("", text)
		}
		r, root := newJSONReader(text)
		s.open = r.open
		return yamldoc.Document{Root: root}
	})
	return s
}

// read returns all nodes of the text.
func (s *source) read() yamldoc.Document {
	doc := s.nodes()
	s.openAll(doc.Root)
	return doc
}

func (s *source) openAll(n *yamldoc.Node) {
	if n == nil {
		return
	}
	s.open(n)
	for _, item := range n.Items {
		s.openAll(item)
	}
}

// beginsAsJSON reports whether the document begins with a brace. YAML in flow style does too.
func (s *source) beginsAsJSON() bool { return bytes.HasPrefix(bytes.TrimSpace(s.text), []byte("{")) }

// Line returns the line of the place that a reference points to ("#/info/title"), or of the nearest enclosing place. It
// returns 0 when the document has no such place at all.
func (s *source) Line(ref string) int {
	line := s.Problem(ref, "", "").Line
	if 0 < line && line <= len(s.places) {
		return s.places[line-1].RootLine
	}
	return line
}

// Problem returns a mistake at a place.
func (s *source) Problem(ref, what, fix string) problem.Problem {
	known, ok := s.known.Load(ref)
	if !ok {
		var p problem.Problem
		if at, _, _ := s.find(ref); at != nil {
			p.Line, p.Column = at.Line, at.Column
		}
		known, _ = s.known.LoadOrStore(ref, p)
	}
	p := known.(problem.Problem)
	p.What, p.Fix = what, fix
	return p
}

// Keys lists the names of the object at a place, in order.
func (s *source) Keys(ref string) (names []string) {
	if _, n, ok := s.find(ref); ok {
		s.open(n)
		for k := range n.Entries() {
			names = append(names, k.Text)
		}
	}
	return names
}

// find descends along a reference. It returns the last value that it found, at with its key or itself in a list, and
// whether it found all tokens.
func (s *source) find(ref string) (at, value *yamldoc.Node, ok bool) {
	value = s.nodes().Root
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, value, false
	}
	for token := range strings.SplitSeq(pointer, "/") {
		s.open(value)
		key, next := value.Child(jsontree.UnescapeName(token))
		if next == nil {
			return at, value, false
		}
		at, value = key, next
	}
	return at, value, true
}

// notes collect the mistakes of a document. Notes are about what changes no judgement, or cannot be judged.
type notes struct {
	source   *source
	Problems problem.Problems
	Notes    problem.Problems
}

func (n *notes) Problem(ref, what, fix string) {
	n.Problems = append(n.Problems, n.source.Problem(ref, what, fix))
}

func (n *notes) Note(ref, what, fix string) {
	n.Notes = append(n.Notes, n.source.Problem(ref, what, fix))
}
