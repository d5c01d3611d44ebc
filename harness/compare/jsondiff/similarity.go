package jsondiff

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A similarity says how like elements of two lists are: the more members or elements they have in common, the liker.
type similarity struct {
	d     *equality
	at    *ident.Path
	items [2][]*jsontree.Node
	parts [2][]elementParts // by element; nil until there are some
	room  []jsontree.Sum
	left  int // of the values that may be looked at two by two
}

// The elementParts of an element are its members or its own elements.
type elementParts struct {
	sums  []jsontree.Sum
	ready bool // they are a sample, in order
}

// maxParts is how many of an element's parts are looked at: those with the smallest sums, which are a sample that does
// not depend on their order.
const maxParts = 16

// changeCost says what it costs that one element stands for another.
func (l *similarity) changeCost(i, j int) int {
	ref, cand := l.items[0][i], l.items[1][j]
	if ref.Kind != cand.Kind {
		return elementOther
	}
	if l.pairwise(i, j) {
		return 0
	}
	if ref.Kind == jsontree.String {
		return 2 * elementGap // a word is another word: rather one was left out, and one put in
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

// pairwise reports whether two elements are equal but for ids that only the two together show.
func (l *similarity) pairwise(i, j int) bool {
	if l.left <= 0 {
		return false
	}
	var ptr [2]string
	for side, at := range [2]int{i, j} {
		if len(l.d.volatile[side]) > 0 {
			ptr[side] = jsontree.AppendIndex(l.d.pointer(side, l.at), at)
		}
	}
	return l.d.pairwise(ptr, l.items[0][i], l.items[1][j], &l.left)
}

// sums returns those of the elements. Of lists that are paired by their parts, if at all, the parts are made first.
func (l *similarity) sums(side int) []jsontree.Sum {
	items := l.items[side]
	out := make([]jsontree.Sum, len(items))
	few := len(l.items[0])*len(l.items[1]) <= smallTable
	for i, n := range items {
		whole := false
		if few && n.Kind == jsontree.Object {
			out[i], whole = l.whole(side, i)
		}
		if !whole {
			out[i] = l.d.sum(side, n, l.pointer(side, i))
		}
	}
	return out
}

// whole returns the sum of an object by those of its members. It is another where a name has something made up.
func (l *similarity) whole(side, i int) (sum jsontree.Sum, ok bool) {
	n := l.items[side][i]
	if _, _, known := l.d.summary(side, n); known {
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
	if len(l.d.volatile[side]) == 0 {
		return ""
	}
	return jsontree.AppendIndex(l.at.Pointer(side), i)
}

// make returns the sums of an element's parts, as they stand in it, and whether nothing is made up in their names.
func (l *similarity) make(side, i int) (sums []jsontree.Sum, bare bool) {
	n := l.items[side][i]
	n.Open()
	sums, bare = l.carve(len(n.Items)), true
	l.d.sums(sums, side, l.pointer(side, i), n)
	empty := jsontree.SumEmpty(n.Kind)
	for k, part := range sums {
		if n.Kind != jsontree.Object {
			sums[k] = empty.Member(jsontree.Sum(k), 0, part)
			continue
		}
		name := l.d.ids.Skeleton(side, n.Names[k])
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

const sumsPerAlloc = 64 // parts, which is some elements

// of returns the parts of an element that are looked at.
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
