// Package spec is an OpenAPI document made ready to be asked: its operations, what they take, and what they answer.
//
// Read builds it from text and finds all mistakes. A request target leads to its operation, a status to its response, and a
// content type to its media type. What a schema says about a value is the business of package schema.
package spec

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/openapi"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Document is what an OpenAPI document says, made ready to be asked. It is safe for concurrent use.
type Document struct {
	file     string
	ops      []*Operation
	named    map[string]*Operation
	routes   router
	src      *openapi.Lines
	unjudged problem.Problems
}

// readDocument reads a document. File is its name in problems.
func Read(file string, data []byte) (*Document, problem.Problems) {
	src := openapi.NewLines(string(data))
	doc, problems := openapi.Load(data, src)
	if len(problems) > 0 {
		return nil, inFile(file, problems)
	}
	b := newBuilder(doc, src)
	d := &Document{file: file, src: src, ops: b.build()}
	if len(b.Problems) > 0 {
		return nil, inFile(file, b.Problems)
	}
	d.unjudged = inFile(file, b.Unjudged)
	d.named = make(map[string]*Operation, len(d.ops))
	for _, op := range d.ops {
		d.named[op.String()] = op
		for _, base := range op.servers {
			d.routes.add(base+op.Path, op)
		}
	}
	return d, nil
}

// Unjudged lists what the document says and cannot be judged: patterns that Go's engine does not know, event streams
// without x-events.
func (d *Document) Unjudged() problem.Problems { return d.unjudged }

// Operations returns the document's operations in its order.
func (d *Document) Operations() []*Operation { return slices.Clone(d.ops) }

// Operation finds the operation for a method and a request target as it stands on the wire. HEAD finds the GET where
// the document has no HEAD of its own (RFC 9110 §9.3.2).
func (d *Document) Operation(method, target string) (op *Operation, ok bool) {
	op, _ = d.Find(method, target)
	return op, op != nil
}

// Find also returns the raw values of the path parameters, in the order of the template.
func (d *Document) Find(method, target string) (*Operation, []string) {
	return d.routes.find(method, TargetPath(target))
}

// Named finds an operation by its String: the method and the path template.
func (d *Document) Named(name string) (op *Operation, ok bool) {
	op, ok = d.named[name]
	return op, ok
}

// PathTemplate returns the path of a target as the document writes it; "" when no operation has the path.
func (d *Document) PathTemplate(target string) string { return d.routes.template(TargetPath(target)) }

// Accepts reports whether the document has an operation for a request, or the request is an OPTIONS of a path that it
// has: servers answer a browser's preflight by themselves, and documents seldom say so.
func (d *Document) Accepts(method, target string) bool {
	_, ok := d.Operation(method, target)
	return ok || method == "OPTIONS" && d.PathTemplate(target) != ""
}

// EventName returns the name of an event: by x-events, the event field or the string at a place in the data. Where
// that gives nothing it is the event field, and without one "message", as in a browser (WHATWG HTML 9.2.6). A comment has
// no name. The operation may be nil.
func (d *Document) EventName(op *Operation, ev *transcript.Event) string {
	var set *EventStream
	if op != nil {
		set = op.eventStream
	}
	return set.NameOf(ev)
}

// Line returns the line of the place that a reference leads to, or of the nearest place around it; 0 when there is none.
func (d *Document) Line(ref string) int { return d.src.Line(ref) }

// Problem returns a problem of a place of the document.
func (d *Document) Problem(ref, what, fix string) problem.Problem {
	p := d.src.Problem(ref, what, fix)
	p.File = d.file
	return p
}

// path returns the path of a request target, whichever form it has (RFC 9112 §3.2).
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

// inFile returns the problems in the order of the document, each once and with its file's name.
func inFile(file string, ps problem.Problems) problem.Problems {
	for i := range ps {
		ps[i].File = file
	}
	return ps.Sort()
}
