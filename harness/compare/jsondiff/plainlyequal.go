package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Most corresponding values of two documents are the same text without a generated value. They are skipped before their
// places are even computed.

// A quickScan compares values before their sums are computed. It gives up after a number of values.
type quickScan struct {
	sums *sums
	left int // how many values may still be compared
}

// plainlyEqual reports whether two values are certainly equal and contain nothing to bind. For an array or an object
// without a sum, it returns true only if it is small, because its items will be checked again.
func plainlyEqual(s *sums, ref, cand *jsontree.Node) bool {
	q := quickScan{s, maxSmall}
	return s.in.rules.none() && q.plainlyEqual(ref, cand)
}

func (q *quickScan) plainlyEqual(ref, cand *jsontree.Node) bool {
	if q.left--; q.left < 0 || ref.Kind != cand.Kind {
		return false
	}
	switch vocabulary := &q.sums.in.ids.Vocabulary; ref.Kind {
	case jsontree.Array, jsontree.Object:
		return q.sums.equalPlain(ref, cand) || !summarized(ref) && !summarized(cand) && q.itemsPlainlyEqual(ref, cand)
	case jsontree.String:
		return ref.Text == cand.Text && vocabulary.NothingToBind(ref.Text)
	case jsontree.Number:
		return ref.Text == cand.Text && !vocabulary.ProjectNumbers(ref.Text, cand.Text)
	default:
		return ref.Text == cand.Text
	}
}

func summarized(n *jsontree.Node) bool {
	_, _, _, _, ok := n.Summary()
	return ok
}

// itemsPlainlyEqual compares items in their order, which must be the same on both sides.
func (q *quickScan) itemsPlainlyEqual(ref, cand *jsontree.Node) bool {
	if len(ref.Items) != len(cand.Items) || !slices.Equal(ref.Names, cand.Names) || !ref.Unique() || !cand.Unique() {
		return false
	}
	for i, item := range ref.Items {
		if !q.plainlyEqual(item, cand.Items[i]) {
			return false
		}
	}
	return true
}
