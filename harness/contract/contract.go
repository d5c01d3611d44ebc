// Package contract decides whether what crossed the wire is what an OpenAPI document promises.
//
// Parse reads any such document and returns all its mistakes at once. Check checks every exchange and event of a
// transcript against it, and CheckRequest a request that is about to be sent. Package coverage counts how much of the
// document was reached, and package specgap says why the document allows two responses to differ. All of it is pure:
// the same document and transcript give the same violations in the same order.
//
// An exchange is judged in this order, as far as it got:
//
//  1. The method and the path have an operation.
//  2. The request is valid: parameters, content type, body.
//  3. The status is declared. Without a declaration, nothing more can be judged.
//  4. The headers are there, and their values match their schemas.
//  5. The content type is declared.
//  6. The body, if complete, is JSON without defects, matches its schema, and has no undocumented fields.
//
// Event streams are not bodies: each event is judged on its own, by the extension x-events, or by itemSchema of OpenAPI
// 3.2.
package contract

import (
	"github.com/lockstep-dev/lockstep/harness/contract/bundle"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Document is an OpenAPI document, ready to judge. It is safe for concurrent use.
type Document struct {
	*spec.Document
	opts   Options
	absent bool
}

// Absent returns the document of a project without a contract. It accepts everything, and judges nothing.
func Absent() *Document { return &Document{Document: spec.Empty(), absent: true} }

// IsAbsent reports whether the document comes from [Absent].
func (d *Document) IsAbsent() bool { return d.absent }

// Accepts reports whether the document has an operation for a request, as [spec.Document.Accepts] does.
func (d *Document) Accepts(method, target string) bool {
	return d.absent || d.Document.Accepts(method, target)
}

// An Operation is one method of one path.
type Operation = spec.Operation

// Problems are the mistakes of a document, in the order of its lines. Parse returns all of them as its error.
type Problems = problem.Problems

// Options change how a document is read and how strictly it judges. Nil means all defaults.
type Options struct {
	// File is the document's name in problems.
	File string
	// AllowUndocumentedFields accepts fields of responses and events that no schema names. OpenAPI allows them in every
	// object that does not forbid them, but a client built from the document never sees them.
	AllowUndocumentedFields bool
	// MaxViolations limits the violations listed for one body or event; 50 if not positive.
	MaxViolations int
	// Open reads another file that the document refers to. Its path is relative in the same way as File. Without Open,
	// references to other files are mistakes.
	Open func(file string) ([]byte, error)
	// KeepTree keeps the document as its loader has read it, in Document.Tree. It needs much memory.
	KeepTree bool
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

// Parse reads an OpenAPI document of version 3.0, 3.1 or 3.2, in YAML or JSON. The error is always of type Problems and
// has every mistake of the document.
func Parse(data []byte, opts *Options) (*Document, error) {
	o := opts.withDefaults()
	var places []problem.Place
	if o.Open != nil && bundle.Needed(data) {
		whole, problems := bundle.Read(o.File, data, o.Open)
		if len(problems) > 0 {
			return nil, problems
		}
		data, places = whole.Text, whole.Places
	}
	doc, problems := spec.ReadJoined(o.File, data, places)
	if len(problems) > 0 {
		return nil, problems
	}
	if !o.KeepTree {
		doc.Tree = nil
	}
	return &Document{Document: doc, opts: o}, nil
}
