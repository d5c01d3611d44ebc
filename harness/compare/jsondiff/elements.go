package jsondiff

import (
	"slices"

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

// An elementPair is an element of each list, by index; -1 where there is none.
type elementPair struct{ ref, cand int }

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
	out        []elementPair      // by index of a and b
}

// pairElements pairs the elements of two lists by their sums. other returns the cost of pairing two unequal elements.
func pairElements(ref, cand []jsontree.Sum, other func(i, j int) int) []elementPair {
	if len(ref) > len(cand) || len(ref) == len(cand) && slices.Compare(ref, cand) > 0 {
		out := pairOriented(cand, ref, func(i, j int) int { return other(j, i) })
		for i := range out {
			out[i] = elementPair{out[i].cand, out[i].ref}
		}
		return out
	}
	return pairOriented(ref, cand, other)
}

func pairOriented(a, b []jsontree.Sum, other func(i, j int) int) []elementPair {
	x := aligner{a: a, b: b, changeCost: other, out: make([]elementPair, 0, len(b))}
	x.align(0, len(a), 0, len(b))
	if len(a) != len(b) {
		return x.out
	}
	// Pairs by position are better, because they report changed elements only. They win unless the aligned pairs include
	// fewer unequal ones, or as many at a lower cost.
	aligned := x.out
	x.out = make([]elementPair, 0, len(b))
	x.byPosition(0, len(a), 0, len(b))
	if changed, apart := x.unequal(x.out), x.unequal(aligned); changed > apart || changed == apart && x.cost(x.out) > x.cost(aligned) {
		return aligned
	}
	return x.out
}

// unequal counts the pairs with different elements.
func (x *aligner) unequal(pairs []elementPair) (n int) {
	for _, p := range pairs {
		if p.ref < 0 || p.cand < 0 || x.a[p.ref] != x.b[p.cand] {
			n++
		}
	}
	return n
}

// cost returns the total cost of the pairs.
func (x *aligner) cost(pairs []elementPair) (n int) {
	for _, p := range pairs {
		switch {
		case p.ref < 0 || p.cand < 0:
			n += elementGap
		case x.a[p.ref] != x.b[p.cand]:
			n += x.changeCost(p.ref, p.cand)
		}
	}
	return n
}

// align pairs a[i:k] with b[j:l].
func (x *aligner) align(i, k, j, l int) {
	for i < k && j < l && x.a[i] == x.b[j] {
		x.out = append(x.out, elementPair{i, j})
		i, j = i+1, j+1
	}
	tail := 0
	for i < k && j < l && x.a[k-1] == x.b[l-1] {
		k, l, tail = k-1, l-1, tail+1
	}
	x.middle(i, k, j, l)
	for n := range tail {
		x.out = append(x.out, elementPair{k + n, l + n})
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
			x.byPosition(i, k, j, l)
			return
		}
	}
	i0, j0 := i, j
	for _, p := range common {
		fill(i, i0+p.ref, j, j0+p.cand)
		x.out = append(x.out, elementPair{i0 + p.ref, j0 + p.cand})
		i, j = i0+p.ref+1, j0+p.cand+1
	}
	fill(i, k, j, l)
}

// shortRun is the longest run of equal elements between two gaps that is ignored, so that both gaps become one.
// Frequent elements are next to each other by chance. If such a run were fixed, a changed element would count as
// missing in one place and as inserted in another.
const shortRun = 8

func withoutShortRuns(common []elementPair, n, m int) []elementPair {
	var out []elementPair
	last := elementPair{-1, -1} // the last pair in out
	for from := 0; from < len(common); {
		to := from + 1
		for to < len(common) && common[to].ref == common[to-1].ref+1 && common[to].cand == common[to-1].cand+1 {
			to++
		}
		atEnd := common[from] == elementPair{0, 0} || common[to-1] == elementPair{n - 1, m - 1}
		end := common[to-1]
		if atEnd || to-from > shortRun || (end.ref-last.ref)*(end.cand-last.cand) > smallTable {
			out = append(out, common[from:to]...)
			last = end
		}
		from = to
	}
	return out
}

func (x *aligner) byPosition(i, k, j, l int) {
	for ; i < k && j < l; i, j = i+1, j+1 {
		x.out = append(x.out, elementPair{i, j})
	}
	for ; i < k; i++ {
		x.out = append(x.out, elementPair{i, -1})
	}
	for ; j < l; j++ {
		x.out = append(x.out, elementPair{-1, j})
	}
}

// gap fills a table of edit distances from the end, and then walks it from the beginning.
func (x *aligner) gap(i0, k, j0, l int) {
	if i0 == k || j0 == l || (k-i0)*(l-j0) > maxGap {
		x.byPosition(i0, k, j0, l)
		return
	}
	n, w := k-i0, l-j0+1
	table := make([]int32, (n+1)*w)
	through := make([]int32, n*w) // the cost if the next two elements are paired
	for i := n; i >= 0; i-- {
		for j := w - 1; j >= 0; j-- {
			best := int32(0)
			switch {
			case i == n:
				best = int32(w-1-j) * elementGap
			case j == w-1:
				best = int32(n-i) * elementGap
			default:
				pair := table[(i+1)*w+j+1]
				if x.a[i0+i] != x.b[j0+j] {
					pair += int32(x.changeCost(i0+i, j0+j))
				}
				through[i*w+j] = pair
				best = min(pair, elementGap+table[(i+1)*w+j], elementGap+table[i*w+j+1])
			}
			table[i*w+j] = best
		}
	}
	for i, j := 0, 0; i < n || j < w-1; {
		switch here := table[i*w+j]; {
		case i < n && j < w-1 && here == through[i*w+j]:
			x.out = append(x.out, elementPair{i0 + i, j0 + j})
			i, j = i+1, j+1
		case i < n && here == elementGap+table[(i+1)*w+j]:
			x.out = append(x.out, elementPair{i0 + i, -1})
			i++
		default:
			x.out = append(x.out, elementPair{-1, j0 + j})
			j++
		}
	}
}

// commonSequence finds the longest common sequence of two lists that are at most maxEdits elements apart (E. Myers, "An
// O(ND) Difference Algorithm and Its Variations").
func commonSequence(a, b []jsontree.Sum) (pairs []elementPair, ok bool) {
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

func walkBack(ends [][]int32, reach func(d, k int) int, i, j int) []elementPair {
	var out []elementPair
	for d := len(ends) - 1; d >= 0; d-- {
		k := i - j
		from := reach(d, k)
		for i > from {
			i, j = i-1, j-1
			out = append(out, elementPair{i, j})
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
func uniqueCommon(a, b []jsontree.Sum) []elementPair {
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
	var once []elementPair
	for i, s := range a {
		if e := all[s]; e.inA == 1 && e.inB == 1 {
			once = append(once, elementPair{i, e.j})
		}
	}
	// Find the longest subsequence with increasing second indexes: for each length, ends has the one with the smallest
	// end.
	var ends []int
	before := make([]int, len(once))
	for n, p := range once {
		at, _ := slices.BinarySearchFunc(ends, p.cand, func(e, j int) int { return once[e].cand - j })
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
	out := make([]elementPair, len(ends))
	if len(ends) > 0 {
		for n, at := ends[len(ends)-1], len(ends)-1; n >= 0; n, at = before[n], at-1 {
			out[at] = once[n]
		}
	}
	return out
}
