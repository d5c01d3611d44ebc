// Package contract decides whether what crossed the wire is what an OpenAPI 3.0 document promises.
//
// Parse reads a document, anybody's, and returns all its mistakes at once. Check holds every exchange and event of a
// transcript against it, CheckRequest what is about to be sent, and Cover counts how much of the document was reached.
// All of it is pure: the same document and transcript give the same violations in the same order.
//
// An exchange is judged in this order, and as far as it came:
//
//  1. the method and the path have an operation
//  2. the request: parameters, content type, body
//  3. the status is declared; without a declaration nothing more can be said
//  4. the headers are there, with values that match their schemas
//  5. the content type is declared
//  6. the body, if it is complete: JSON without defects, matching its schema, without fields nobody documents
//
// Event streams are not bodies: each event is judged by itself, by what the extension x-events says of it.
package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Document is an OpenAPI document, ready to judge. It is safe for concurrent use.
type Document struct {
	opts     Options
	ops      []*Operation
	named    map[string]*Operation
	routes   router
	src      *source
	cache    *cache
	unjudged Problems
	surface  func() *surface // what its schemas declare

	// Of one judgement. Nil: each document is read each time, and each judge has room of its own.
	docs        *jsontree.Documents
	room        *room
	answersOnly bool
}

// Options change how a document is read and how strictly it judges. Nil is all defaults.
type Options struct {
	// File is the document's name in problems.
	File string
	// AllowUndocumentedFields keeps quiet about fields of responses and events that no schema names. OpenAPI allows
	// them in every object that does not say otherwise; a client built from the document never sees them.
	AllowUndocumentedFields bool
	// MaxViolations bounds the violations listed for one body or event; 50 if not positive.
	MaxViolations int
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxViolations <= 0 {
		out.MaxViolations = 50
	}
	return out
}

// An Operation is one method of one path.
type Operation struct {
	ID     string `json:"id"` // operationId; may be empty
	Method string `json:"method"`
	Path   string `json:"path"` // the template: "/client-tools/tools/{clientID}"

	ref        string
	servers    []string // base paths
	params     []*parameter
	pathParams int          // how many the template has
	body       *requestBody // nil when none is declared
	responses  []*response  // sorted: exact codes, ranges, default
	events     *eventSet    // of the first stream that is described
}

// String returns the method and the path template: "GET /event".
func (op *Operation) String() string { return op.Method + " " + op.Path }

// Parse reads an OpenAPI 3.0 document, in YAML or JSON. The error is always Problems: every mistake of the document.
// References to other files are mistakes, because Parse reads no files.
func Parse(data []byte, opts *Options) (*Document, error) {
	o := opts.withDefaults()
	src := newSource(string(data))
	doc, problems := load(data, src)
	if len(problems) > 0 {
		return nil, in(o.File, problems)
	}
	b := newBuilder(doc, src)
	d := &Document{opts: o, src: src, ops: b.build(), cache: &cache{}}
	if len(b.problems) > 0 {
		return nil, in(o.File, b.problems)
	}
	d.unjudged = in(o.File, b.unjudged)
	d.surface = sync.OnceValue(d.newSurface)
	d.named = make(map[string]*Operation, len(d.ops))
	for _, op := range d.ops {
		d.named[op.String()] = op
		for _, base := range op.servers {
			d.routes.add(base+op.Path, op)
		}
	}
	return d, nil
}

// Unjudged lists what the document says and nobody can hold a server to: patterns that Go's engine does not know,
// event streams without x-events.
func (d *Document) Unjudged() Problems { return d.unjudged }

// Operations returns the document's operations in its order.
func (d *Document) Operations() []*Operation { return slices.Clone(d.ops) }

// Operation finds the operation for a method and a request target as it stands on the wire. HEAD finds the GET where
// the document has no HEAD of its own (RFC 9110 §9.3.2).
func (d *Document) Operation(method, target string) (op *Operation, ok bool) {
	op, _ = d.routes.find(method, path(target))
	return op, op != nil
}

// Named finds an operation by its String: the method and the path template.
func (d *Document) Named(name string) (op *Operation, ok bool) {
	op, ok = d.named[name]
	return op, ok
}

// EventName returns what an event is called: by x-events, the event field or the string at a place in the data. Where
// that gives nothing it is the event field, and without one "message", as a browser would have it (WHATWG HTML 9.2.6).
// A comment has no name. The operation may be nil.
func (d *Document) EventName(op *Operation, ev *transcript.Event) string {
	var set *eventSet
	if op != nil {
		set = op.events
	}
	return set.nameOf(ev)
}

// violations turns findings into violations. What was found without a schema is about the media type at ref.
func (d *Document) violations(out []Violation, at Violation, part, ref string, found []finding) []Violation {
	for _, f := range found {
		at.Place, at.Kind, at.Text, at.Schema = part+f.pointer, f.kind, f.text, cmp.Or(f.ref, ref)
		at.Line = d.src.line(at.Schema)
		out = append(out, at)
	}
	return out
}

// violation is violations for one that is not about a value.
func (d *Document) violation(at Violation, place string, kind Kind, ref, text string, args ...any) Violation {
	at.Place, at.Kind, at.Text, at.Schema, at.Line = place, kind, fmt.Sprintf(text, args...), ref, d.src.line(ref)
	return at
}

// path returns the path of a request target, whichever form it has (RFC 9112 §3.2).
func path(target string) string {
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
