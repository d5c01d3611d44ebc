package mutate

import (
	"iter"
	"slices"
)

// An Operator changes one thing at a time.
type Operator struct {
	Name   string // "number/plus-one": the family, and what it does
	Family string
	// Matters means that a client can tell the mutants from the original.
	Matters bool
	Doc     string // one sentence: what the server would do
	// Mutants yields the mutants of a subject. The same subject and seed give the same mutants in the same order.
	Mutants func(s *Subject, seed uint64) iter.Seq[Mutant]
}

// emit hands out a mutant. When no more mutants are wanted, it does nothing. A walk may still go on, because mutants
// are cheap until they are built.
type emit func(Mutant)

// operator makes an operator from a function that walks through a subject. Its mutants matter.
func operator(family, name, doc string, walk func(s *Subject, seed uint64, yield emit)) Operator {
	return Operator{
		Name: family + "/" + name, Family: family, Matters: true, Doc: doc,
		Mutants: func(s *Subject, seed uint64) iter.Seq[Mutant] {
			return func(yield func(Mutant) bool) {
				more := true
				walk(s, seed, func(m Mutant) { more = more && yield(m) })
			}
		},
	}
}

// harmless returns copies of operators whose mutants do not matter.
func harmless(operators []Operator) []Operator {
	out := slices.Clone(operators)
	for i := range out {
		out[i].Matters = false
	}
	return out
}

// each makes an operator from a function that is called with each of some items of a subject.
func each[T any](family, name, doc string, items func(*Subject) iter.Seq[T], change func(item T, yield emit)) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		for item := range items(s) {
			change(item, yield)
		}
	})
}

// filter returns the items of a subject that meet a condition.
func filter[T any](items func(*Subject) iter.Seq[T], keep func(T) bool) func(*Subject) iter.Seq[T] {
	return func(s *Subject) iter.Seq[T] {
		return func(yield func(T) bool) {
			for item := range items(s) {
				if keep(item) && !yield(item) {
					return
				}
			}
		}
	}
}

// replaceValues makes an operator that replaces a value. The function returns the new value as JSON, or "" to keep the
// old one.
func replaceValues(family, name, doc string, change func(v *value, seed uint64) (json string)) Operator {
	return operator(family, name, doc, func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			if after := change(v, seed); after != "" {
				yield(v.set(after))
			}
		}
	})
}
