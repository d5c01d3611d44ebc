package ident

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// partners has the pairs of values that are bound to each other.
type partners struct {
	of [2]map[boundKey]bound // the partners of the values of each side
	// order lists the reference's bound values in the order in which they were bound. Other spellings of a listed
	// value, such as without its prefix, are left out.
	order []boundKey
}

// boundKey is a value and its kind. Each kind has its own bindings.
type boundKey struct {
	kind  tokenKind
	value string
}

// bound is the partner of a value, and the place where the two were bound.
type bound struct {
	value string
	where Location
}

// partner returns the partner of a value of a side.
func (p *partners) partner(side int, kind tokenKind, value string) (partner bound, met bool) {
	partner, met = p.of[side][boundKey{kind, value}]
	return partner, met
}

// bind binds two values that appear in the same place. It returns the reason if they cannot be partners.
func (p *partners) bind(kind tokenKind, ref, cand string, where Location) diff.Reason {
	if kind <= tokProgram {
		return diff.Reason{} // each side has exactly one such value
	}
	why := p.conflict(kind, ref, cand)
	if _, met := p.partner(0, kind, ref); met || !why.None() {
		return why
	}
	p.order = append(p.order, boundKey{kind, ref})
	Put(&p.of[0], boundKey{kind, ref}, bound{cand, where})
	Put(&p.of[1], boundKey{kind, cand}, bound{ref, where})
	return diff.Reason{}
}

// bindToken binds two tokens of the same kind. An id that can be written in several ways is also bound in the form that
// they share. For an id with a prefix, that is the part behind it, because "client_01ARZ…" belongs to "01ARZ…". For a
// UUID, it is the form in lower case and without dashes.
func (p *partners) bindToken(t token, ref, cand string, where Location) diff.Reason {
	if why := p.bind(t.Kind, ref, cand, where); !why.None() {
		return why
	}
	kind := t.Kind
	if kind == tokPrefixed {
		ref, cand = ref[t.prefix:], cand[t.prefix:]
		if kind = unprefixedKind(ref); kind == 0 || kind != unprefixedKind(cand) {
			return diff.Reason{}
		}
		if why := p.bindSpelling(kind, ref, cand, where); !why.None() {
			return why
		}
	}
	if kind != tokUUID && kind != tokCompact {
		return diff.Reason{}
	}
	return p.bindSpelling(tokAnyUUID, plainUUID(ref), plainUUID(cand), where)
}

// bindSpelling binds another spelling of an id that is already in order, and adds nothing to order.
func (p *partners) bindSpelling(kind tokenKind, ref, cand string, where Location) diff.Reason {
	met := len(p.order)
	why := p.bind(kind, ref, cand, where)
	p.order = p.order[:met]
	return why
}

func plainUUID(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }

// conflict returns the earlier binding that makes it impossible to bind two values.
func (p *partners) conflict(kind tokenKind, ref, cand string) diff.Reason {
	if partner, met := p.partner(0, kind, ref); met && partner.value != cand {
		return diff.Because(diff.IdentityBroken, diff.RefHadOtherPartner, ref, partner.value, partner.where, IDConflict{kind, ref, cand})
	}
	if partner, met := p.partner(1, kind, cand); met && partner.value != ref {
		return diff.Because(diff.IdentityBroken, diff.CandHadOtherPartner, cand, partner.value, partner.where, IDConflict{kind, ref, cand})
	}
	return diff.Reason{}
}

// An IDConflict is two values that cannot be partners.
type IDConflict struct {
	kind      tokenKind
	ref, cand string
}

func (p *partners) clone() partners {
	return partners{of: [2]map[boundKey]bound{maps.Clone(p.of[0]), maps.Clone(p.of[1])}, order: slices.Clone(p.order)}
}

// Put sets a value in a map, and makes the map first if it is nil. Most comparisons never use most of their maps.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}
