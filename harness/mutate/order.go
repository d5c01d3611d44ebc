package mutate

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// orderOperators send the elements of a list in another order. Elements that differ only in what the server made up may
// change places: nobody can tell.
var orderOperators = []Operator{
	lists("order", "swapped", "It sends the first two different elements the other way round", func(n int, differ func(i, j int) bool) []int {
		for i := range n - 1 {
			if differ(i, i+1) {
				p := identity(n)
				p[i], p[i+1] = i+1, i
				return p
			}
		}
		return nil
	}),
	lists("order", "reversed", "It sends the last element first", func(n int, differ func(i, j int) bool) []int {
		p := identity(n)
		slices.Reverse(p)
		return p
	}),
	lists("order", "rotated", "It sends the first element last", func(n int, differ func(i, j int) bool) []int {
		return append(identity(n)[1:], 0)
	}),
}

func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// lists makes an operator of a function that returns the new order of a list: by index, nil for none.
func lists(family, name, doc string, change func(n int, differ func(i, j int) bool) []int) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			n := len(v.node.Items)
			if v.node.Kind != jsontree.Array || n < 2 || n > 200 {
				return true
			}
			outlines := make([]string, n)
			for i, item := range v.node.Items {
				var ref *jsontree.Node
				if v.ref != nil && v.ref.Kind == jsontree.Array && i < len(v.ref.Items) {
					ref = v.ref.Items[i]
				}
				outlines[i] = erased(s, item, ref, v.doc.seen)
			}
			order := change(n, func(i, j int) bool { return outlines[i] != outlines[j] })
			same := true
			for i, from := range order {
				same = same && outlines[from] == outlines[i]
			}
			if order == nil || same {
				return true
			}
			return yield(v.mutant(name, func(list, _ *jsontree.Node, _ int) *jsontree.Node {
				items := make([]*jsontree.Node, n)
				for i, from := range order {
					items[i] = list.Items[from]
				}
				list.Items = items
				return list
			}))
		})
	})
}
