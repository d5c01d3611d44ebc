// Package mutate shows what a judgement would not notice.
//
// A green run says that nothing was found; not that something would have been. An Operator takes what the candidate did
// in a scenario and changes one thing, as a port with one mistake would have it. Whoever judges the mutant by the same
// rules learns whether scenarios and rules would have caught that server: a mutant that is found is killed, one that is
// not lives, and Explain names the rule that hides it. Operators that do not matter change what no client can tell:
// a mutant of theirs that is found is a false alarm.
//
// Which values are made up by the server is seen from the run itself, and not from what package compare takes for an id:
// what is equal on both sides of a green run is fixed, what is not is made up. So a shape that comparing is wrong about
// shows as a mutant that lives.
//
// A Content-Length that counted its body counts the changed one, as a framework would do it. Of a document only what is not nested deeper than 40 levels, and the first 400 values, are changed.
//
// The package is pure: it reads transcripts and returns changed copies that share with them what is not changed.
package mutate

import (
	"iter"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An Operator changes one thing at a time.
type Operator struct {
	Name   string // "number/plus-one": the family and what it does
	Family string
	// Matters says that a client can tell the mutants from the original.
	Matters bool
	Doc     string // one sentence: what the server would do
	// Mutants yields the mutants of a subject. The same subject and seed give the same ones, in the same order.
	Mutants func(s *Subject, seed uint64) iter.Seq[Mutant]
}

// A Mutant is what a candidate did, with one change.
type Mutant struct {
	Place  string // "step 3 body /id", "stream bus event 4 data /type"
	Before string // what was there, shortened; "" for nothing
	After  string
	// Build returns the changed transcript. It is not called for mutants that nobody judges.
	Build func() *transcript.Transcript

	site site
}

// A Subject is what two targets did in one scenario, when both did the same.
type Subject struct {
	Reference, Candidate *transcript.Transcript
	Rules                *compare.Rules
	// Name returns what the contract calls an event of an operation's stream; nil leaves names as they are.
	Name func(operation string, ev *transcript.Event) string

	docs    []*document
	scanned bool
}

// Operators returns all operators, family by family.
func Operators() []Operator {
	return slices.Concat(
		statusOperators, mediaOperators, headerOperators, presenceOperators, nullOperators, typeOperators,
		booleanOperators, numberOperators, stringOperators, identityOperators, echoOperators, encodedOperators, timeOperators, orderOperators,
		dropOperators, duplicateOperators, errorOperators, eventOrderOperators, eventDropOperators,
		eventDuplicateOperators, lateOperators, gapOperators, foreignOperators, renamedOperators, endOperators, processOperators, heartbeatOperators,
		chunkOperators, pieceOperators, upstreamOperators, mcpOperators, sameOperators, samePieces,
	)
}

// emit hands out a mutant; it reports whether more are wanted.
type emit func(Mutant) bool

// operator makes an operator whose mutants matter of a function that goes through a subject.
func operator(family, name, doc string, walk func(s *Subject, seed uint64, yield emit)) Operator {
	return Operator{
		Name: family + "/" + name, Family: family, Matters: true, Doc: doc,
		Mutants: func(s *Subject, seed uint64) iter.Seq[Mutant] {
			return func(yield func(Mutant) bool) {
				more := true
				walk(s, seed, func(m Mutant) bool {
					more = more && yield(m)
					return more
				})
			}
		},
	}
}

// harmless turns an operator into one whose mutants do not matter.
func harmless(op Operator) Operator {
	op.Matters = false
	return op
}
