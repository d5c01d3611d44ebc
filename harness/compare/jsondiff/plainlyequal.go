package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Most corresponding values of two documents are the same text without a generated value. They are skipped before their
// places are even computed.

// plainlyEqual reports whether two values are certainly equal and contain nothing to bind. For an array or an object
// without a sum, it returns true only if it is small, because its items will be checked again.
func (e *equality) plainlyEqual(ref, cand *jsontree.Node) bool {
	left := maxSmall
	return len(e.volatile[0])+len(e.volatile[1]) == 0 && e.plainlyEqualWithin(ref, cand, &left)
}

func (e *equality) plainlyEqualWithin(ref, cand *jsontree.Node, left *int) bool {
	if *left--; *left < 0 || ref.Kind != cand.Kind {
		return false
	}
	switch ref.Kind {
	case jsontree.Array, jsontree.Object:
		return e.equalPlain(ref, cand) || !summarized(ref) && !summarized(cand) && e.itemsPlainlyEqual(ref, cand, left)
	case jsontree.String:
		return ref.Text == cand.Text && e.ids.Vocabulary.NothingToBind(ref.Text)
	case jsontree.Number:
		return ref.Text == cand.Text && !e.ids.Vocabulary.ProjectNumbers(ref.Text, cand.Text)
	default:
		return ref.Text == cand.Text
	}
}

func summarized(n *jsontree.Node) bool {
	_, _, _, _, ok := n.Summary()
	return ok
}

// itemsPlainlyEqual compares items in their order, which must be the same on both sides.
func (e *equality) itemsPlainlyEqual(ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Items) != len(cand.Items) || !slices.Equal(ref.Names, cand.Names) || !ref.Unique() || !cand.Unique() {
		return false
	}
	for i, item := range ref.Items {
		if !e.plainlyEqualWithin(item, cand.Items[i], left) {
			return false
		}
	}
	return true
}

// maxQuickScan is how many values of two lists are compared before their sums are computed.
const maxQuickScan = 256

// allComparable is a quick check whether elements with the same index are equal apart from generated values. If so,
// they are paired.
func (e *equality) allComparable(ref, cand *jsontree.Node) bool {
	left := maxQuickScan
	return len(e.volatile[0])+len(e.volatile[1]) == 0 && len(ref.Items) <= maxQuickScan && e.itemsComparable(ref, cand, &left)
}

func (e *equality) itemsComparable(ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Items) != len(cand.Items) {
		return false
	}
	for i, item := range ref.Items {
		if !e.comparable(item, cand.Items[i], left) {
			return false
		}
	}
	return true
}

func (e *equality) comparable(ref, cand *jsontree.Node, left *int) bool {
	if *left--; *left < 0 || ref.Kind != cand.Kind {
		return false
	}
	switch ref.Kind {
	case jsontree.Array:
		return e.equalPlain(ref, cand) || opened(ref, cand) && e.itemsComparable(ref, cand, left)
	case jsontree.Object:
		return e.equalPlain(ref, cand) || opened(ref, cand) && e.membersComparable(ref, cand, left)
	case jsontree.String:
		return e.ids.Vocabulary.TextsComparable(ref.Text, cand.Text)
	default:
		return ref.Text == cand.Text
	}
}

func opened(ref, cand *jsontree.Node) bool {
	ref.Open()
	cand.Open()
	return true
}

// membersComparable compares members by name. It returns false for objects with a generated or a repeated name.
func (e *equality) membersComparable(ref, cand *jsontree.Node, left *int) bool {
	if len(ref.Names) != len(cand.Names) || !ref.Unique() {
		return false
	}
	for i, name := range ref.Names {
		other := cand.MemberAt(name, i)
		if other == nil || !e.ids.Vocabulary.NothingToBind(name) || !e.comparable(ref.Items[i], other, left) {
			return false
		}
	}
	return true
}
