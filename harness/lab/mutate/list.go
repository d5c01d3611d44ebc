package mutate

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// orderOperators send the elements of a list in another order. If elements differ only in what the server generated,
// their order does not matter, because no client can notice it.
var orderOperators = []Operator{
	reorder("swapped", "It swaps the first two different elements", func(n int, differ func(i, j int) bool) []int {
		for i := range n - 1 {
			if differ(i, i+1) {
				p := ascending(n)
				p[i], p[i+1] = i+1, i
				return p
			}
		}
		return nil
	}),
	reorder("reversed", "It sends the last element first", func(n int, _ func(i, j int) bool) []int { return descending(n) }),
	each("order", "times", "It sends the last element first where elements differ only in times", (*Subject).values, func(v *value, yield emit) {
		const minElements = 6 // the times of two shorter lists may have the same order by chance
		n := len(v.node.Items)
		if v.node.Kind == jsontree.Array && n >= minElements && !v.isLoose() && v.ref != nil && len(v.ref.Items) == n && len(slices.Compact(v.maskedElements())) == 1 && sortedByTime(v) {
			yield(v.permuted("the last element first", descending(n)))
		}
	}),
	reorder("rotated", "It sends the first element last", func(n int, _ func(i, j int) bool) []int { return append(ascending(n)[1:], 0) }),
}

// dropOperators omit elements of a list.
var dropOperators = []Operator{
	changeElements("drop", "first", "It leaves out the first element", func(all []*jsontree.Node) []*jsontree.Node { return all[1:] }),
	changeElements("drop", "last", "It leaves out the last element", func(all []*jsontree.Node) []*jsontree.Node { return all[:len(all)-1] }),
	changeElements("drop", "all", "It sends an empty list", func([]*jsontree.Node) []*jsontree.Node { return nil }),
	changeElements("drop", "but-first", "It sends only the first element", func(all []*jsontree.Node) []*jsontree.Node { return all[:1] }),
}

// duplicateOperators send elements of a list twice, at its end.
var duplicateOperators = []Operator{
	repeatElements("last", "It sends the last element twice", func(all []*jsontree.Node) []*jsontree.Node { return all[len(all)-1:] }),
	repeatElements("first", "It sends the first element again at the end", func(all []*jsontree.Node) []*jsontree.Node { return all[:1] }),
	repeatElements("all", "It sends the whole list twice", func(all []*jsontree.Node) []*jsontree.Node { return all }),
}

func repeatElements(name, doc string, which func([]*jsontree.Node) []*jsontree.Node) Operator {
	return changeElements("duplicate", name, doc, func(all []*jsontree.Node) []*jsontree.Node { return slices.Concat(all, which(all)) })
}

func ascending(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func descending(n int) []int {
	p := ascending(n)
	slices.Reverse(p)
	return p
}

// reorder makes an operator from a function that returns the new order of a list as indexes, or nil.
func reorder(name, doc string, change func(n int, differ func(i, j int) bool) []int) Operator {
	return each("order", name, doc, (*Subject).values, func(v *value, yield emit) {
		n := len(v.node.Items)
		if v.node.Kind != jsontree.Array || n < 2 || n > 200 || v.isLoose() {
			return
		}
		masked := v.maskedElements()
		order := change(n, func(i, j int) bool { return masked[i] != masked[j] })
		for i, from := range order {
			if masked[from] != masked[i] {
				yield(v.permuted(name, order))
				return
			}
		}
	})
}

// permuted returns the mutant in which a list has another order, given as indexes.
func (v *value) permuted(name string, order []int) Mutant {
	return v.mutant(name, func(list, _ *jsontree.Node, _ int) *jsontree.Node {
		items := make([]*jsontree.Node, len(order))
		for i, from := range order {
			items[i] = list.Items[from]
		}
		list.Items = items
		return list
	})
}

// maskedElements returns the elements of a list with a mark instead of what the server generated.
func (v *value) maskedElements() []string {
	masked := make([]string, len(v.node.Items))
	for i, item := range v.node.Items {
		masked[i] = v.doc.s.masked(item, childOf(v.ref, v.node, i), v.doc.seen)
	}
	return masked
}

// sortedByTime reports whether the times in one place of each element ascend on both sides, or descend on both.
func sortedByTime(list *value) bool {
	n := len(list.node.Items)
	found := map[string]*[2][]time.Time{}
	for _, v := range list.doc.values {
		if v.origin != runTime || v.ref == nil || len(v.path) <= len(list.path) || !slices.Equal(v.path[:len(list.path)], list.path) {
			continue
		}
		t, _, _ := v.time()
		r, _, ok := parseTime(v.ref.Text, v.doc.seen)
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

// direction returns 1 if each time is later than the previous one, -1 if each is earlier, and 0 otherwise.
func direction(times []time.Time) int {
	first := times[1].Compare(times[0])
	for i := 2; i < len(times); i++ {
		if times[i].Compare(times[i-1]) != first {
			return 0
		}
	}
	return first
}

// changeElements makes an operator from a function that returns other elements for a list that is not empty.
func changeElements(family, name, doc string, change func([]*jsontree.Node) []*jsontree.Node) Operator {
	return each(family, name, doc, (*Subject).values, func(v *value, yield emit) {
		if v.node.Kind != jsontree.Array || len(v.node.Items) == 0 || len(change(v.node.Items)) == len(v.node.Items) {
			return
		}
		yield(v.mutant(name, func(n, _ *jsontree.Node, _ int) *jsontree.Node {
			n.Items = change(n.Items)
			return n
		}))
	})
}
