// Package spec is an OpenAPI document that is prepared for lookups: its operations, their requests and their responses.
//
// Read builds it from text, and finds all mistakes with their lines, columns and fixes. A request target leads to its
// operation, a status to its response, and a content type to its media type. Package schema judges values by schemas.
package spec

import (
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Document is an OpenAPI document that is prepared for lookups. It is safe for concurrent use.
type Document struct {
	Tree *openapi3.T // as the loader has read it; nil unless it was kept

	file   string
	ops    []*Operation
	named  map[string]*Operation
	routes router
	src    *source
	notes  func() problem.Problems
}

// Read reads a document. file is its name in problems.
func Read(file string, data []byte) (*Document, problem.Problems) { return ReadJoined(file, data, nil) }

// ReadJoined reads a document that was joined from several files. places are those of its lines.
func ReadJoined(file string, data []byte, places []problem.Place) (*Document, problem.Problems) {
	src := newSource(data)
	src.places = places
	doc, notes, problems := load(src)
	if len(problems) > 0 {
		return nil, src.inFile(file, problems)
	}
	b := newBuilder(doc, src)
	d := &Document{Tree: doc, file: file, src: src, ops: b.build()}
	if len(b.Problems) > 0 {
		return nil, src.inFile(file, b.Problems)
	}
	own := b.Notes // and not the builder, which has the loader's tree
	d.notes = sync.OnceValue(func() problem.Problems { return src.inFile(file, slices.Concat(notes(), own)) })
	d.named = make(map[string]*Operation, len(d.ops))
	for _, op := range d.ops {
		d.named[op.String()] = op
		for _, base := range op.servers {
			d.routes.add(base+op.Path, op)
		}
	}
	if b.program != nil {
		d.named[Program] = b.program
	}
	return d, nil
}

// Empty returns a document without operations.
func Empty() *Document {
	return &Document{src: newSource(nil), notes: func() problem.Problems { return nil }}
}

// Notes lists what is wrong with the document but changes no judgement, such as an example that does not match its
// schema, and what cannot be judged, such as a pattern that Go's engine does not support.
func (d *Document) Notes() problem.Problems { return d.notes() }

// Operations returns the document's operations in its order.
func (d *Document) Operations() []*Operation { return slices.Clone(d.ops) }

// Operation finds the operation for a method and a request target as it was sent. HEAD finds the GET if the document
// has no HEAD for the path (RFC 9110 §9.3.2).
func (d *Document) Operation(method, target string) (op *Operation, ok bool) {
	op, _ = d.Find(method, target)
	return op, op != nil
}

// Find is Operation. It also returns the raw values of the path parameters, in the order of the template.
func (d *Document) Find(method, target string) (*Operation, []string) {
	return d.routes.find(method, TargetPath(target))
}

// Named finds an operation by its String: the method and the path template, or [Program].
func (d *Document) Named(name string) (op *Operation, ok bool) {
	op, ok = d.named[name]
	return op, ok
}

// PathTemplate returns the path of a target as the document writes it, or "" when no operation has the path.
func (d *Document) PathTemplate(target string) string { return d.routes.template(TargetPath(target)) }

// Accepts reports whether the document has an operation for a request. It also accepts an OPTIONS request for a known
// path, because servers answer a browser's preflight by themselves, and documents rarely mention that.
func (d *Document) Accepts(method, target string) bool {
	_, ok := d.Operation(method, target)
	return ok || method == "OPTIONS" && d.PathTemplate(target) != ""
}

// Line returns the line of the place that a reference leads to, or of the nearest enclosing place; 0 when there is
// none.
//
// In a document of several files, it is the line of the root document from which the place is reached.
func (d *Document) Line(ref string) int { return d.src.Line(ref) }

// Problem returns a problem at a place of the document.
func (d *Document) Problem(ref, what, fix string) problem.Problem {
	return d.src.inFile(d.file, problem.Problems{d.src.Problem(ref, what, fix)})[0]
}

// TargetPath returns the path of a request target in any of its forms (RFC 9112 §3.2).
func TargetPath(target string) string {
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	if !strings.HasPrefix(target, "/") {
		if _, rest, ok := strings.Cut(target, "://"); ok {
			_, rest, _ = strings.Cut(rest, "/")
			target = "/" + rest
		}
	}
	return target
}

// inFile returns the problems with their file's name, in the order of the document and without repetition.
func (s *source) inFile(file string, ps problem.Problems) problem.Problems {
	for i := range ps {
		p := &ps[i]
		p.File = file
		if 0 < p.Line && p.Line <= len(s.places) {
			at := s.places[p.Line-1]
			p.File, p.Line, p.Column = at.File, at.Line, at.Column
		}
	}
	return ps.Sort()
}
