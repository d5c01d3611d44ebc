// Package ident recognises generated values in texts, such as ids, times and ports, and binds those of the reference to
// those of the candidate.
//
// Two servers generate different values, so equal texts cannot be required. Instead, a value of the reference must
// always appear in the same places as its partner, the value of the candidate that is bound to it.
package ident

import (
	"maps"
	"net/url"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Bindings records which generated value of the reference corresponds to which value of the candidate. Two values are
// bound when they first appear in the same place. From then on, each may only appear together with the other.
type Bindings struct {
	Applied    map[string]bool // the rules that were applied, by their names in Result
	Vocabulary Vocabulary      // what is recognised in texts
	Times      Times           // compares times, which are not bound
	Formats    formats         // the formats of the bound ids
	partners   partners
	noted      notes
}

func New(ref, cand *transcript.Transcript, shapes ...IDShape) *Bindings {
	b := &Bindings{Applied: map[string]bool{}, Formats: formats{}}
	b.Vocabulary = Vocabulary{Shapes: newProjectShapes(shapes), applied: b.Applied}
	b.Times = Times{Sides: [2]*transcript.Transcript{ref, cand}, noted: &b.noted}
	for side, t := range b.Times.Sides {
		b.Vocabulary.known[side].values = lockstepValues(t)
	}
	return b
}

// Clone returns a copy. Binding values in the copy does not change the original.
func (b *Bindings) Clone() *Bindings {
	out := &Bindings{Applied: maps.Clone(b.Applied), Formats: formats{}, partners: b.partners.clone()}
	out.Vocabulary = b.Vocabulary.clone(out.Applied)
	out.Times = Times{Sides: b.Times.Sides, noted: &out.noted}
	return out
}

// Met reports whether a value of the reference is bound.
func (b *Bindings) Met(kind tokenKind, ref string) bool {
	_, met := b.partners.partner(0, kind, ref)
	return met
}

// PartnerOf returns the value that a whole value of a side is bound to; "" when it is not bound.
func (b *Bindings) PartnerOf(side int, value string) string {
	partner, _ := b.partners.partner(side, TokKnown, value)
	return partner.value
}

// BindWhole binds two whole values, and recognises them inside longer texts from then on.
func (b *Bindings) BindWhole(ref, cand string, where Location) diff.Reason {
	met := b.Met(TokKnown, ref)
	if why := b.bindKnown(TokKnown, ref, cand, where); !why.None() || met {
		return why
	}
	if ref != cand && min(len(ref), len(cand)) < MinKnown {
		b.Vocabulary.ShortIDs.add([2]string{ref, cand})
	}
	b.rememberEncoded(ref, cand, where)
	return diff.Reason{}
}

// rememberEncoded recognises two bound values in their percent-encoded forms as well, in paths and in queries.
func (b *Bindings) rememberEncoded(ref, cand string, where Location) {
	for _, encode := range [...]func(string) string{url.PathEscape, url.QueryEscape} {
		r, c := encode(ref), encode(cand)
		if r == ref || c == cand || b.Met(TokKnown, r) {
			continue
		}
		if b.partners.bindSpelling(TokKnown, r, c, where).None() {
			b.Vocabulary.remember(TokKnown, r, c)
		}
	}
}

// bindKnown binds two values that their shape alone does not reveal, and recognises them inside longer texts from then
// on.
func (b *Bindings) bindKnown(kind tokenKind, ref, cand string, where Location) diff.Reason {
	met := b.Met(kind, ref)
	why := b.partners.bind(kind, ref, cand, where)
	if why.None() && !met {
		b.Vocabulary.remember(kind, ref, cand)
	}
	return why
}

// bindToken binds two tokens of the same kind. A trace id is recognised inside longer texts from then on: elsewhere it
// has no shape, because logs and bodies contain it alone.
func (b *Bindings) bindToken(t token, ref, cand string, where Location) diff.Reason {
	met := b.Met(t.Kind, ref)
	why := b.partners.bindToken(t, ref, cand, where)
	if why.None() && !met && t.Kind == tokTrace {
		b.Vocabulary.remember(tokTrace, ref, cand)
	}
	return why
}

// bindPairs binds the ids that only two texts together reveal, and recognises them in longer texts from then on. It
// reports whether there are any, and why they cannot be partners.
func (b *Bindings) bindPairs(ref, cand string, where Location) (found bool, why diff.Reason) {
	for _, p := range b.Vocabulary.WordPairs(ref, cand) {
		found = true
		if prefixLen(p[0]) == 0 {
			met := b.Met(TokKnown, p[0])
			if why := b.BindWhole(p[0], p[1], where); !why.None() {
				return true, why
			}
			if !met {
				b.noted.add(Assumed{Reference: p[0], Candidate: p[1], Class: IDClass}, where)
			}
			continue
		}
		if why := b.bindKnown(tokPrefixed, p[0], p[1], where); !why.None() {
			return true, why
		}
	}
	if p := tempPair(ref, cand); p != nil {
		found = true
		if why := b.bindKnown(tokTemp, p[0], p[1], where); !why.None() {
			return true, why
		}
	}
	return found, diff.Reason{}
}

// KnownElsewhere returns how a rule's binding of two values conflicts with an earlier one: a value was bound because of
// its shape, or because the client sent it.
func (b *Bindings) KnownElsewhere(ref, cand string) diff.Reason {
	if min(len(ref), len(cand)) < MinKnown {
		return diff.Reason{}
	}
	for kind := tokSent; kind < tokPort; kind++ {
		if why := b.partners.conflict(kind, ref, cand); !why.None() {
			return why
		}
	}
	for _, kind := range b.Vocabulary.Shapes.kinds {
		if why := b.partners.conflict(kind, ref, cand); !why.None() {
			return why
		}
	}
	return diff.Reason{}
}
