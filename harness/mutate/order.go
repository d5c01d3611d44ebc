package mutate

import (
	"slices"
	"strings"
	"time"

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
	operator("order", "times", "It sends the last element first where only times tell the elements apart", reversedTimes),
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
			return yield(v.permuted(name, order))
		})
	})
}

// permuted is the mutant in which a list has another order: by index.
func (v *spot) permuted(name string, order []int) Mutant {
	return v.mutant(name, func(list, _ *jsontree.Node, _ int) *jsontree.Node {
		items := make([]*jsontree.Node, len(order))
		for i, from := range order {
			items[i] = list.Items[from]
		}
		list.Items = items
		return list
	})
}

// reversedTimes reverses lists whose elements differ only in what the server made up, as long as their times ascend or
// descend on both sides. That two short lists do so by chance is likely.
func reversedTimes(s *Subject, _ uint64, yield emit) {
	const fewest = 6
	for _, d := range s.documents() {
		for _, v := range d.spots {
			n := len(v.node.Items)
			if v.node.Kind != jsontree.Array || n < fewest || v.ref == nil || len(v.ref.Items) != n || !s.onlyMadeUp(v) || !d.sorted(v) {
				continue
			}
			order := identity(n)
			slices.Reverse(order)
			if !yield(v.permuted("the last element first", order)) {
				return
			}
		}
	}
}

// onlyMadeUp reports whether the elements of a list differ only in what the server made up.
func (s *Subject) onlyMadeUp(v *spot) bool {
	first := erased(s, v.node.Items[0], v.ref.Items[0], v.doc.seen)
	for i, item := range v.node.Items {
		if erased(s, item, v.ref.Items[i], v.doc.seen) != first {
			return false
		}
	}
	return true
}

// sorted reports whether times at one place of each element ascend on both sides, or descend.
func (d *document) sorted(list *spot) bool {
	n := len(list.node.Items)
	found := map[string]*[2][]time.Time{}
	for _, v := range d.spots {
		if v.class != moment || v.ref == nil || len(v.path) <= len(list.path) || !slices.Equal(v.path[:len(list.path)], list.path) {
			continue
		}
		t, _, _ := timeOf(v.node.Text, d.seen)
		r, _, ok := timeOf(v.ref.Text, d.seen)
		if !ok {
			continue
		}
		_, place, _ := strings.Cut(v.pointer[len(list.pointer)+1:], "/")
		if found[place] == nil {
			found[place] = &[2][]time.Time{}
		}
		all := found[place]
		all[0], all[1] = append(all[0], r), append(all[1], t)
	}
	for _, all := range found {
		if len(all[0]) == n && direction(all[0]) != 0 && direction(all[0]) == direction(all[1]) {
			return true
		}
	}
	return false
}

// direction returns 1 where each time is later than the one before it, -1 where each is earlier, and 0 otherwise.
func direction(times []time.Time) int {
	first := times[1].Compare(times[0])
	for i := 2; i < len(times); i++ {
		if times[i].Compare(times[i-1]) != first {
			return 0
		}
	}
	return first
}
