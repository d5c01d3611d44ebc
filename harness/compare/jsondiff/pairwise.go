package jsondiff

import (
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Elements of two lists are usually paired by sums that each side computes alone. An id that only two texts together
// reveal (see bindPairs in package ident) has a different sum than its partner. So before an element is reported as
// missing or moved, elements are compared in pairs.

// maxPairwise is how many values of two lists are compared in pairs.
const maxPairwise = 64 << 10

// pairwise compares values in pairs. It gives up after a number of values.
type pairwise struct {
	sums *sums
	left int // how many values may still be compared
}

// allPairwise reports whether elements with the same index are equal apart from generated values, including those that
// only two texts together reveal.
func allPairwise(s *sums, at *ident.Path, ref, cand *jsontree.Node) bool {
	p := pairwise{s, maxPairwise}
	return p.items([2]string{s.in.rules.pointer(0, at), s.in.rules.pointer(1, at)}, ref, cand)
}

// equal reports whether two values at two JSON Pointers are equal apart from such values.
func (p *pairwise) equal(ptr [2]string, ref, cand *jsontree.Node) bool {
	if p.left--; p.left < 0 || ref.Kind != cand.Kind {
		return false
	}
	rules, vocabulary := &p.sums.in.rules, &p.sums.in.ids.Vocabulary
	ref.Open()
	cand.Open()
	switch {
	case Scalar(ref) && (rules[0][ptr[0]] != nil || rules[1][ptr[1]] != nil):
		return p.sameSum(ptr, ref, cand)
	case ref.Kind == jsontree.String:
		return vocabulary.TextsComparable(ref.Text, cand.Text) || vocabulary.ComparablePair(ref.Text, cand.Text)
	case ref.Kind == jsontree.Number && ident.EpochUnit(ref.Text) != "" && ident.EpochUnit(ref.Text) == ident.EpochUnit(cand.Text):
		return true
	case ref.Kind == jsontree.Array:
		return p.items(ptr, ref, cand)
	case ref.Kind == jsontree.Object:
		return p.members(ptr, ref, cand)
	default:
		return p.sameSum(ptr, ref, cand)
	}
}

func (p *pairwise) items(ptr [2]string, ref, cand *jsontree.Node) bool {
	if len(ref.Items) != len(cand.Items) {
		return false
	}
	rules := &p.sums.in.rules
	for i, item := range ref.Items {
		if !p.equal([2]string{below(rules[0], ptr[0], ref, i), below(rules[1], ptr[1], cand, i)}, item, cand.Items[i]) {
			return false
		}
	}
	return true
}

// members compares members by name. If a name contains a generated value, it compares the sums of the objects
// instead.
func (p *pairwise) members(ptr [2]string, ref, cand *jsontree.Node) bool {
	if len(ref.Names) != len(cand.Names) || !ref.Unique() || !cand.Unique() {
		return false
	}
	for i, name := range ref.Names {
		other := cand.MemberAt(name, i)
		if other == nil {
			return p.sameSum(ptr, ref, cand)
		}
		below := ptr
		for side := range below {
			if len(p.sums.in.rules[side]) > 0 {
				below[side] = jsontree.AppendName(ptr[side], name)
			}
		}
		if !p.equal(below, ref.Items[i], other) {
			return false
		}
	}
	return true
}

func (p *pairwise) sameSum(ptr [2]string, ref, cand *jsontree.Node) bool {
	return p.sums.sum(0, ref, ptr[0]) == p.sums.sum(1, cand, ptr[1])
}
