package jsondiff

import (
	"testing"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

func TestListsWithNothingInCommonAreComparedInTime(t *testing.T) {
	const n = 5000
	ref, cand := make([]jsontree.Sum, n), make([]jsontree.Sum, n+3)
	for i := range cand {
		cand[i] = jsontree.Sum(i%2 + 10)
		if i < n {
			ref[i] = jsontree.Sum(i % 3)
		}
	}
	got := pairElements(ref, cand, func(int, int) int { return elementOther })
	if len(got) != n+3 {
		t.Errorf("%d pairs, want %d", len(got), n+3)
	}
}
