// Package contract decides whether what crossed the wire is what an OpenAPI 3.0 document promises.
//
// Parse reads a document, anybody's, and returns all its mistakes at once. Check holds every exchange and event of a
// transcript against it, and CheckRequest what is about to be sent. Package coverage counts how much of the document was
// reached, and package specgap says why the document allows two answers to differ.
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
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Document is an OpenAPI document, ready to judge. It is safe for concurrent use.
type Document struct {
	*spec.Document
	opts Options
}

// An Operation is one method of one path.
type Operation = spec.Operation

// Problems are the mistakes of a document, in the order of its lines. Parse returns all of them as its error.
type Problems = problem.Problems

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

// Parse reads an OpenAPI 3.0 document, in YAML or JSON. The error is always Problems: every mistake of the document.
// References to other files are mistakes, because Parse reads no files.
func Parse(data []byte, opts *Options) (*Document, error) {
	o := opts.withDefaults()
	doc, problems := spec.Read(o.File, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return &Document{doc, o}, nil
}
