package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A similarity measures how similar the elements of two lists are, by how many members or elements they have in common.
type similarity struct {
	sums    *sums
	at      *ident.Path
	items   [2][]*jsontree.Node
	samples [2]map[int][]jsontree.Sum // of the parts of elements
	pairs   pairwise
}

// maxParts is how many parts of an element are compared. They are the ones with the smallest sums, because such a
// sample does not depend on the order of the parts.
const maxParts = 16

// changeCost returns the cost of pairing two unequal elements.
func (l *similarity) changeCost(i, j int) int {
	ref, cand := l.items[0][i], l.items[1][j]
	if ref.Kind != cand.Kind {
		return elementOther
	}
	if l.pairwise(i, j) {
		return 0
	}
	if ref.Kind == jsontree.String {
		return 2 * elementGap // a changed string is no cheaper than a missing and an inserted one
	}
	r, c := l.sample(0, i), l.sample(1, j)
	all := max(len(r), len(c))
	if all == 0 {
		return elementOther * 2 / 3
	}
	same := 0
	for len(r) > 0 && len(c) > 0 {
		switch {
		case r[0] < c[0]:
			r = r[1:]
		case r[0] > c[0]:
			c = c[1:]
		default:
			r, c, same = r[1:], c[1:], same+1
		}
	}
	return elementOther - elementOther*4/5*same/all
}

// pairwise reports whether two elements are equal apart from generated values that only the two together reveal.
func (l *similarity) pairwise(i, j int) bool {
	return l.pairs.left > 0 && l.pairs.equal([2]string{l.pointer(0, i), l.pointer(1, j)}, l.items[0][i], l.items[1][j])
}

// elementSums returns the sums of a side's elements. In a short list, elements are mostly paired next, so the sums of
// their parts are kept.
func (l *similarity) elementSums(side int) []jsontree.Sum {
	items := l.items[side]
	out := make([]jsontree.Sum, len(items))
	for i, n := range items {
		ptr := l.pointer(side, i)
		if _, _, summed := l.sums.summary(side, n); summed || Scalar(n) || len(items) > maxParts {
			out[i] = l.sums.sum(side, n, ptr)
		} else {
			out[i] = l.takeSample(side, i, ptr)
		}
	}
	return out
}

func (l *similarity) pointer(side, i int) string {
	if len(l.sums.in.rules[side]) == 0 {
		return ""
	}
	return jsontree.AppendIndex(l.at.Pointer(side), i)
}

// sample returns the sums of an element's members or of its own elements, in order, and no more than maxParts.
func (l *similarity) sample(side, i int) []jsontree.Sum {
	if _, ok := l.samples[side][i]; !ok {
		l.takeSample(side, i, l.pointer(side, i))
	}
	return l.samples[side][i]
}

// takeSample keeps the sample of an element, and returns the sum of all of it.
func (l *similarity) takeSample(side, i int, ptr string) jsontree.Sum {
	n := l.items[side][i]
	n.Open()
	parts := make([]jsontree.Sum, len(n.Items))
	sum := l.sums.sumItems(side, n, ptr, parts)
	slices.Sort(parts)
	ident.Put(&l.samples[side], i, parts[:min(maxParts, len(parts))])
	return sum
}

// Elements of two lists are usually paired by sums that each side computes alone. An id that only two texts together
// reveal (see bindPairs in package ident) has a different sum than its partner. So before an element is reported as
// missing or moved, elements are compared in pairs.

// A short list is compared in pairs first, because that usually succeeds, and is faster than computing sums.

// These are the largest numbers of values of two lists that are compared in pairs.
const (
	maxPairwise      = 64 << 10
	maxPairwiseFirst = 256 // before their sums are computed
)

// pairwise compares values in pairs. It gives up after a number of values.
type pairwise struct {
	sums *sums
	left int // how many values may still be compared
}

// lists reports whether elements with the same index are equal apart from generated values, including those that only
// two texts together reveal. If it gives up, left becomes negative.
func (p *pairwise) lists(at *ident.Path, ref, cand *jsontree.Node) bool {
	if len(ref.Items) > p.left {
		p.left = -1
		return false
	}
	rules := &p.sums.in.rules
	return p.items([2]string{rules.pointer(0, at), rules.pointer(1, at)}, ref, cand)
}

// equal reports whether two values at two JSON Pointers are equal apart from such values.
func (p *pairwise) equal(ptr [2]string, ref, cand *jsontree.Node) bool {
	if p.left--; p.left < 0 || ref.Kind != cand.Kind {
		return false
	}
	if p.sums.equalPlain(ref, cand) {
		return true
	}
	rules, vocabulary := &p.sums.in.rules, &p.sums.in.ids.Vocabulary
	ref.Open()
	cand.Open()
	switch {
	case Scalar(ref) && (rules[0][ptr[0]] != nil || rules[1][ptr[1]] != nil):
		return p.sameSum(ptr, ref, cand)
	case ref.Kind == jsontree.String:
		return vocabulary.TextsComparable(ref.Text, cand.Text) || vocabulary.ComparablePair(ref.Text, cand.Text)
	case Scalar(ref) && ref.Text == cand.Text:
		return true
	case ref.Kind == jsontree.Number && ident.EpochUnit(ref.Text) != "" && ident.EpochUnit(ref.Text) == ident.EpochUnit(cand.Text):
		return true
	case ref.Kind == jsontree.Array && listRule(rules[0], ptr[0]) == nil && listRule(rules[1], ptr[1]) == nil:
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
