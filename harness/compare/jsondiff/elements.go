package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The elements of two lists are paired in three steps. Each step works on what the previous one has left:
//
//  1. Equal elements at both ends are paired.
//  2. Between the ends, the longest common sequence is paired. It is searched for if the lists are at most maxEdits
//     elements apart. Otherwise, the elements that each side has exactly once are paired, and the same steps follow
//     between them.
//  3. In the gaps, the most similar elements are paired. The others count as inserted or missing.
//
// Swapping the two lists does not change the pairs.

const (
	maxEdits   = 1000     // memory grows with its square: 4 MB
	maxGap     = 64 << 10 // the largest table for one gap
	smallTable = 4 << 10  // filling a table of this size is faster than searching for a common sequence
)

// elementGap is the cost of an inserted or missing element. elementOther is the base cost of pairing two unequal ones.
// It is less than two gaps, so that a changed element is one difference.
const (
	elementGap   = 6
	elementOther = 10
)

// An aligner pairs the elements of two lists by their sums.
type aligner struct {
	a, b       []jsontree.Sum
	changeCost func(i, j int) int // the cost of pairing a[i] with an unequal b[j]
	out        []diff.Pair        // by index of a and b
}

// pairElements pairs the elements of two lists by their sums. other returns the cost of pairing two unequal elements.
func pairElements(ref, cand []jsontree.Sum, other func(i, j int) int) []diff.Pair {
	if len(ref) > len(cand) || len(ref) == len(cand) && slices.Compare(ref, cand) > 0 {
		out := pairOriented(cand, ref, func(i, j int) int { return other(j, i) })
		for i := range out {
			out[i] = diff.Pair{Ref: out[i].Cand, Cand: out[i].Ref}
		}
		return out
	}
	return pairOriented(ref, cand, other)
}

func pairOriented(a, b []jsontree.Sum, other func(i, j int) int) []diff.Pair {
	x := aligner{a: a, b: b, changeCost: other, out: make([]diff.Pair, 0, len(b))}
	x.align(0, len(a), 0, len(b))
	if len(a) != len(b) {
		return x.out
	}
	// Pairs by position are better, because they report changed elements only. They win unless the aligned pairs include
	// fewer unequal ones, or as many at a lower cost.
	aligned := x.out
	x.out = diff.ByPosition(len(a), len(b))
	if changed, apart := x.unequal(x.out), x.unequal(aligned); changed > apart || changed == apart && x.cost(x.out) > x.cost(aligned) {
		return aligned
	}
	return x.out
}

// unequal counts the pairs with different elements.
func (x *aligner) unequal(pairs []diff.Pair) (n int) {
	for _, p := range pairs {
		if p.Ref < 0 || p.Cand < 0 || x.a[p.Ref] != x.b[p.Cand] {
			n++
		}
	}
	return n
}

// cost returns the total cost of the pairs.
func (x *aligner) cost(pairs []diff.Pair) (n int) {
	for _, p := range pairs {
		switch {
		case p.Ref < 0 || p.Cand < 0:
			n += elementGap
		case x.a[p.Ref] != x.b[p.Cand]:
			n += x.changeCost(p.Ref, p.Cand)
		}
	}
	return n
}

// align pairs a[i:k] with b[j:l].
func (x *aligner) align(i, k, j, l int) {
	for i < k && j < l && x.a[i] == x.b[j] {
		x.out = append(x.out, diff.Pair{Ref: i, Cand: j})
		i, j = i+1, j+1
	}
	tail := 0
	for i < k && j < l && x.a[k-1] == x.b[l-1] {
		k, l, tail = k-1, l-1, tail+1
	}
	x.middle(i, k, j, l)
	for n := range tail {
		x.out = append(x.out, diff.Pair{Ref: k + n, Cand: l + n})
	}
}

func (x *aligner) middle(i, k, j, l int) {
	if i == k || j == l || (k-i)*(l-j) <= smallTable {
		x.gap(i, k, j, l)
		return
	}
	common, ok := commonSequence(x.a[i:k], x.b[j:l])
	fill := x.gap
	if ok {
		common = withoutShortRuns(common, k-i, l-j)
	} else {
		common, fill = uniqueCommon(x.a[i:k], x.b[j:l]), x.align
		if len(common) == 0 {
			x.add(i, j, diff.ByPosition(k-i, l-j))
			return
		}
	}
	i0, j0 := i, j
	for _, p := range common {
		fill(i, i0+p.Ref, j, j0+p.Cand)
		x.out = append(x.out, diff.Pair{Ref: i0 + p.Ref, Cand: j0 + p.Cand})
		i, j = i0+p.Ref+1, j0+p.Cand+1
	}
	fill(i, k, j, l)
}

// shortRun is the longest run of equal elements between two gaps that is ignored, so that both gaps become one.
// Frequent elements are next to each other by chance. If such a run were fixed, a changed element would count as
// missing in one place and as inserted in another.
const shortRun = 8

func withoutShortRuns(common []diff.Pair, n, m int) []diff.Pair {
	var out []diff.Pair
	last := diff.Pair{Ref: -1, Cand: -1} // the last pair in out
	for from := 0; from < len(common); {
		to := from + 1
		for to < len(common) && common[to].Ref == common[to-1].Ref+1 && common[to].Cand == common[to-1].Cand+1 {
			to++
		}
		atEnd := common[from] == diff.Pair{Ref: 0, Cand: 0} || common[to-1] == diff.Pair{Ref: n - 1, Cand: m - 1}
		end := common[to-1]
		if atEnd || to-from > shortRun || (end.Ref-last.Ref)*(end.Cand-last.Cand) > smallTable {
			out = append(out, common[from:to]...)
			last = end
		}
		from = to
	}
	return out
}

// gap pairs a[i:k] with b[j:l] at the least cost.
func (x *aligner) gap(i, k, j, l int) {
	x.add(i, j, diff.Align(k-i, l-j, maxGap, elementGap, func(r, c int) int {
		if x.a[i+r] == x.b[j+c] {
			return 0
		}
		return x.changeCost(i+r, j+c)
	}))
}

// add adds pairs of elements of a[i:] and b[j:].
func (x *aligner) add(i, j int, pairs []diff.Pair) {
	for _, p := range pairs {
		if p.Ref >= 0 {
			p.Ref += i
		}
		if p.Cand >= 0 {
			p.Cand += j
		}
		x.out = append(x.out, p)
	}
}

// commonSequence finds the longest common sequence of two lists that are at most maxEdits elements apart (E. Myers, "An
// O(ND) Difference Algorithm and Its Variations").
func commonSequence(a, b []jsontree.Sum) (pairs []diff.Pair, ok bool) {
	// ends[d][d+k] is the furthest index in a that is reachable on diagonal k = i-j with d elements left out or
	// inserted.
	var ends [][]int32
	reach := func(d, k int) int {
		if d == 0 {
			return 0
		}
		last := ends[d-1]
		left, right := k-1+d-1, k+1+d-1 // by leaving out an element of a, or by inserting one of b
		switch {
		case k == -d || k < d && last[left] < last[right]:
			return int(last[right])
		default:
			return int(last[left]) + 1
		}
	}
	for d := 0; d <= maxEdits; d++ {
		row := make([]int32, 2*d+1)
		for k := -d; k <= d; k += 2 {
			i := reach(d, k)
			j := i - k
			for i < len(a) && j >= 0 && j < len(b) && a[i] == b[j] {
				i, j = i+1, j+1
			}
			row[d+k] = int32(i)
			if i >= len(a) && j >= len(b) {
				ends = append(ends, row)
				return walkBack(ends, reach, len(a), len(b)), true
			}
		}
		ends = append(ends, row)
	}
	return nil, false
}

func walkBack(ends [][]int32, reach func(d, k int) int, i, j int) []diff.Pair {
	var out []diff.Pair
	for d := len(ends) - 1; d >= 0; d-- {
		k := i - j
		from := reach(d, k)
		for i > from {
			i, j = i-1, j-1
			out = append(out, diff.Pair{Ref: i, Cand: j})
		}
		if d == 0 {
			break
		}
		if last := ends[d-1]; k == -d || k < d && last[k-1+d-1] < last[k+1+d-1] {
			j--
		} else {
			i--
		}
	}
	slices.Reverse(out)
	return out
}

// uniqueCommon returns the longest sequence of elements that both sides have in the same order, and each exactly once.
func uniqueCommon(a, b []jsontree.Sum) []diff.Pair {
	type seen struct{ inA, inB, i, j int }
	all := make(map[jsontree.Sum]seen, len(a))
	for i, s := range a {
		e := all[s]
		e.inA, e.i = e.inA+1, i
		all[s] = e
	}
	for j, s := range b {
		if e, ok := all[s]; ok {
			e.inB, e.j = e.inB+1, j
			all[s] = e
		}
	}
	var once []diff.Pair
	for i, s := range a {
		if e := all[s]; e.inA == 1 && e.inB == 1 {
			once = append(once, diff.Pair{Ref: i, Cand: e.j})
		}
	}
	// Find the longest subsequence with increasing second indexes: for each length, ends has the one with the smallest
	// end.
	var ends []int
	before := make([]int, len(once))
	for n, p := range once {
		at, _ := slices.BinarySearchFunc(ends, p.Cand, func(e, j int) int { return once[e].Cand - j })
		before[n] = -1
		if at > 0 {
			before[n] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, n)
		} else {
			ends[at] = n
		}
	}
	out := make([]diff.Pair, len(ends))
	if len(ends) > 0 {
		for n, at := ends[len(ends)-1], len(ends)-1; n >= 0; n, at = before[n], at-1 {
			out[at] = once[n]
		}
	}
	return out
}
