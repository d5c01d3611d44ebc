package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A similarity measures how similar the elements of two lists are, by how many members or elements they have in common.
type similarity struct {
	sums  *sums
	at    *ident.Path
	items [2][]*jsontree.Node
	parts [2][]elementParts // by element; nil until there are some
	room  []jsontree.Sum
	pairs pairwise
}

// elementParts are the sums of an element's members or of its own elements.
type elementParts struct {
	sums  []jsontree.Sum
	ready bool // sums is the sample, in order
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
	r, c := l.of(0, i), l.of(1, j)
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
	if l.pairs.left <= 0 {
		return false
	}
	var ptr [2]string
	for side, at := range [2]int{i, j} {
		if len(l.sums.in.rules[side]) > 0 {
			ptr[side] = jsontree.AppendIndex(l.at.Pointer(side), at)
		}
	}
	return l.pairs.equal(ptr, l.items[0][i], l.items[1][j])
}

// elementSums returns the sums of a side's elements. Short lists will need the parts of their elements, too, so it
// computes those first.
func (l *similarity) elementSums(side int) []jsontree.Sum {
	items := l.items[side]
	out := make([]jsontree.Sum, len(items))
	few := len(l.items[0])*len(l.items[1]) <= smallTable
	for i, n := range items {
		whole := false
		if few && n.Kind == jsontree.Object {
			out[i], whole = l.whole(side, i)
		}
		if !whole {
			out[i] = l.sums.sum(side, n, l.pointer(side, i))
		}
	}
	return out
}

// whole computes the sum of an object from those of its members. That is not possible when a name contains a generated
// value.
func (l *similarity) whole(side, i int) (sum jsontree.Sum, ok bool) {
	n := l.items[side][i]
	if _, _, known := l.sums.summary(side, n); known {
		return 0, false
	}
	made, bare := l.make(side, i)
	if !bare {
		return 0, false
	}
	empty := jsontree.SumEmpty(n.Kind)
	sum = empty
	for _, part := range made {
		sum += part - empty
	}
	return sum, true
}

func (l *similarity) pointer(side, i int) string {
	if len(l.sums.in.rules[side]) == 0 {
		return ""
	}
	return jsontree.AppendIndex(l.at.Pointer(side), i)
}

// make returns the sums of an element's parts in their order. bare is whether no name contains a generated value.
func (l *similarity) make(side, i int) (sums []jsontree.Sum, bare bool) {
	n := l.items[side][i]
	n.Open()
	sums, bare = l.carve(len(n.Items)), true
	ptr, empty := l.pointer(side, i), jsontree.SumEmpty(n.Kind)
	for k, item := range n.Items {
		part := l.sums.sum(side, item, below(l.sums.in.rules[side], ptr, n, k))
		if n.Kind != jsontree.Object {
			sums[k] = empty.Member(jsontree.Sum(k), 0, part)
			continue
		}
		name := l.sums.in.ids.Skeletons().Of(side, n.Names[k])
		bare = bare && name == n.Names[k]
		sums[k] = empty.Member(jsontree.SumText(jsontree.String, name), 0, part)
	}
	if l.parts[side] == nil {
		l.parts[side] = make([]elementParts, len(l.items[side]))
	}
	l.parts[side][i].sums = sums
	return sums, bare
}

// carve returns room for n sums.
func (l *similarity) carve(n int) []jsontree.Sum {
	if len(l.room) < n {
		l.room = make([]jsontree.Sum, max(n, sumsPerAlloc))
	}
	part := l.room[:n:n]
	l.room = l.room[n:]
	return part
}

const sumsPerAlloc = 64 // sums, enough for several elements

// of returns the sample of an element's parts.
func (l *similarity) of(side, i int) []jsontree.Sum {
	if l.parts[side] == nil || l.parts[side][i].sums == nil {
		l.make(side, i)
	}
	p := &l.parts[side][i]
	if !p.ready {
		slices.Sort(p.sums)
		p.sums, p.ready = p.sums[:min(maxParts, len(p.sums))], true
	}
	return p.sums
}
