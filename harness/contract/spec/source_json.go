package spec

import (
	"bytes"
	"errors"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A jsonReader reads JSON as package yamldoc reads YAML, which would take several times as long. It reads the content of
// an object or list when it is asked for: few places of a large document are named in messages.
type jsonReader struct {
	text  []byte  // valid JSON
	marks []place // one for every markDistance bytes; a minified document has one line

	mu     sync.Mutex
	last   place                 // of the value that was read last
	closed map[*yamldoc.Node]int // the offsets of the objects and lists whose content has not been read
}

// A place is an offset with its line and column.
type place struct{ at, line, column int }

const markDistance = 4096

func newJSONReader(text []byte) (r *jsonReader, root *yamldoc.Node) {
	r = &jsonReader{text: text, closed: map[*yamldoc.Node]int{}}
	for p := (place{0, 1, 1}); ; p = r.walk(p, p.at+markDistance) {
		r.marks = append(r.marks, p)
		if p.at+markDistance > len(text) {
			break
		}
	}
	return r, r.value(r.from(0), 0)
}

// walk returns the place of a later offset.
func (r *jsonReader) walk(p place, to int) place {
	for _, c := range r.text[p.at:to] {
		switch {
		case c == '\n':
			p.line, p.column = p.line+1, 1
		case utf8.RuneStart(c):
			p.column++
		}
	}
	p.at = to
	return p
}

// place returns the place of an offset.
func (r *jsonReader) place(at int) place {
	near := r.marks[at/markDistance]
	if near.at < r.last.at && r.last.at <= at {
		near = r.last
	}
	r.last = r.walk(near, at)
	return r.last
}

var kinds = map[jsontext.Kind]yamldoc.Kind{
	'n': yamldoc.Null, 't': yamldoc.Bool, 'f': yamldoc.Bool, '0': yamldoc.Number, '"': yamldoc.String, '[': yamldoc.List, '{': yamldoc.Map,
}

// lenient accepts the defects that leave a document readable.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// checkJSON returns why a text is not one value in JSON.
func checkJSON(text []byte, options ...jsontext.Options) error {
	in := jsontext.NewDecoder(bytes.NewBuffer(text), options...)
	if err := in.SkipValue(); err != nil {
		return err
	}
	rest := bytes.TrimLeft(text[in.InputOffset():], " \t\r\n")
	if len(rest) > 0 {
		return &jsontext.SyntacticError{ByteOffset: int64(len(text) - len(rest)), Err: errors.New("text follows the value")}
	}
	return nil
}

func (r *jsonReader) from(offset int) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(r.text[offset:]), lenient...)
}

// value reads a value. It skips the content of an object or list. start is where the decoder's input begins.
func (r *jsonReader) value(in *jsontext.Decoder, start int) *yamldoc.Node {
	kind := in.PeekKind()
	at := start + int(in.InputOffset())
	at += len(r.text[at:]) - len(bytes.TrimLeft(r.text[at:], " \t\r\n:,"))
	p := r.place(at)
	n := &yamldoc.Node{Kind: kinds[kind], Line: p.line, Column: p.column}
	if n.Kind == yamldoc.Map || n.Kind == yamldoc.List {
		r.closed[n] = at
		_ = in.SkipValue()
		return n
	}
	token, _ := in.ReadToken()
	if n.Kind != yamldoc.Null {
		n.Text = token.String()
	}
	return n
}

// open reads the content of an object or list, unless it has been read.
func (r *jsonReader) open(n *yamldoc.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	start, ok := r.closed[n]
	if !ok {
		return
	}
	delete(r.closed, n)
	in := r.from(start)
	_, _ = in.ReadToken()
	for end := in.PeekKind(); end != '}' && end != ']'; end = in.PeekKind() {
		if n.Kind == yamldoc.Map {
			n.Keys = append(n.Keys, r.value(in, start))
		}
		n.Items = append(n.Items, r.value(in, start))
	}
}
