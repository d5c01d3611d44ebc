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

// allPairwise reports whether elements with the same index are equal apart from generated values, including those that
// only two texts together reveal.
func (e *equality) allPairwise(at *ident.Path, ref, cand *jsontree.Node) bool {
	left := maxPairwise
	return e.itemsPairwise([2]string{e.pointer(0, at), e.pointer(1, at)}, ref, cand, &left)
}

func (e *equality) pairwise(ptr [2]string, ref, cand *jsontree.Node, left *int) bool {
	if *left--; *left < 0 || ref.Kind != cand.Kind {
		return false
	}
	ref.Open()
	cand.Open()
	switch {
	case Scalar(ref) && (e.volatile[0][ptr[0]] != nil || e.volatile[1][ptr[1]] != nil):
		return e.sum(0, ref, ptr[0]) == e.sum(1, cand, ptr[1])
	case ref.Kind == jsontree.String:
		return e.ids.Vocabulary.TextsComparable(ref.Text, cand.Text) || e.ids.Vocabulary.ComparablePair(ref.Text, cand.Text)
	case ref.Kind == jsontree.Number && ident.EpochUnit(ref.Text) != "" && ident.EpochUnit(ref.Text) == ident.EpochUnit(cand.Text):
		return true
	case ref.Kind == jsontree.Array:
		return e.itemsPairwise(ptr, ref, cand, left)
	case ref.Kind == jsontree.Object:
		return e.membersPairwise(ptr, ref, cand, left)
	default:
		return e.sum(0, ref, ptr[0]) == e.sum(1, cand, ptr[1])
	}
}

func (e *equality) itemsPairwise(ptr [2]string, ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Items) != len(cand.Items) {
		return false
	}
	for i, item := range ref.Items {
		if !e.pairwise(e.belowBoth(ptr, ref, i, cand, i), item, cand.Items[i], left) {
			return false
		}
	}
	return true
}

// membersPairwise compares members by name. If a name contains a generated value, it compares the sums of the objects
// instead.
func (e *equality) membersPairwise(ptr [2]string, ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Names) != len(cand.Names) || !ref.Unique() || !cand.Unique() {
		return false
	}
	for i, name := range ref.Names {
		other := cand.MemberAt(name, i)
		if other == nil {
			return e.sum(0, ref, ptr[0]) == e.sum(1, cand, ptr[1])
		}
		below := ptr
		for side := range below {
			if len(e.volatile[side]) > 0 {
				below[side] = jsontree.AppendName(ptr[side], name)
			}
		}
		if !e.pairwise(below, ref.Items[i], other, left) {
			return false
		}
	}
	return true
}

func (e *equality) belowBoth(ptr [2]string, ref *jsontree.Node, i int, cand *jsontree.Node, k int) [2]string {
	return [2]string{below(e.volatile[0], ptr[0], ref, i), below(e.volatile[1], ptr[1], cand, k)}
}
