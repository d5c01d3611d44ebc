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

// replaceValues makes an operator that replaces a value. The function returns the new value as JSON, or false to keep
// the old one.
func replaceValues(family, name, doc string, change func(v *value, seed uint64) (json string, ok bool)) Operator {
	return operator(family, name, doc, func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			if after, ok := change(v, seed); ok {
				yield(v.set(after))
			}
		}
	})
}

// eachEvent makes an operator from a function that is called with every event, including heartbeats.
func eachEvent(family, name, doc string, change func(ev *event, yield emit)) Operator {
	return eachStream(family, name, doc, func(_ *Subject, st *stream, yield emit) {
		for _, ev := range st.events() {
			change(ev, yield)
		}
	})
}

// eachContentEvent is eachEvent without heartbeats.
func eachContentEvent(family, name, doc string, change func(ev *event, yield emit)) Operator {
	return eachEvent(family, name, doc, func(ev *event, yield emit) {
		if !ev.isBeat {
			change(ev, yield)
		}
	})
}

// each makes an operator from a function that is called with each of some items of a subject.
func each[T any](family, name, doc string, items func(*Subject) iter.Seq[T], change func(s *Subject, item T, yield emit)) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		for item := range items(s) {
			change(s, item, yield)
		}
	})
}

// eachResponse makes an operator from a function that is called with every complete response.
func eachResponse(family, name, doc string, change func(s *Subject, r *response, yield emit)) Operator {
	return each(family, name, doc, (*Subject).responses, change)
}

// eachStream makes an operator from a function that is called with every event stream.
func eachStream(family, name, doc string, change func(s *Subject, st *stream, yield emit)) Operator {
	return each(family, name, doc, (*Subject).streams, change)
}

// eachRequest makes an operator from a function that is called with every request to an upstream.
func eachRequest(name, doc string, change func(s *Subject, r *request, yield emit)) Operator {
	return each("upstream", name, doc, (*Subject).requests, change)
}

// eachValue makes an operator from a function that is called with every value of every document.
func eachValue(family, name, doc string, change func(s *Subject, v *value, yield emit)) Operator {
	return each(family, name, doc, (*Subject).values, change)
}
