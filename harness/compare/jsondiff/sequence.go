package jsondiff

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// If the elements of two lists are equal apart from generated values, they are paired by index. Then only their times
// can show that one list is reversed: "newest first" where the reference has "oldest first".

// minSequence is how many elements make it unlikely that two orders are opposite by chance. Of random pairs of lists
// with six elements, one in 259,200 is sorted in opposite directions. Servers that create elements in parallel give
// them times in any order.
const minSequence = 6

// sequence compares the directions of the times in two lists. Their elements are paired by index, and have no reported
// difference.
func (t *timeRules) sequence(at *ident.Path, ref, cand *jsontree.Node) {
	ref.Open()
	cand.Open()
	if len(ref.Items) < 2 || len(ref.Items) != len(cand.Items) {
		return
	}
	for _, path := range timePaths(ref.Items[0], nil, maxNesting) {
		r, rok := t.timesAt(at, ref, path)
		if !rok || r.direction == 0 {
			continue
		}
		c, cok := t.timesAt(at, cand, path)
		if !cok || r.direction != -c.direction || len(ref.Items) < minSequence && !(t.farApart(0, r) && t.farApart(1, c)) {
			continue
		}
		name := strings.Join(append([]string{"of the elements"}, path...), "/")
		t.out.differ(diff.Because(diff.OrderDiffers, diff.ListReversed, name, direction(r), direction(c)), at, ref, cand)
		return // the others probably follow from it
	}
}

// A timeSequence is the times of a list, from the first element to the last one.
type timeSequence struct {
	direction int // 1 if each is later than the previous one, -1 if each is earlier
	from, to  time.Time
}

func direction(r timeSequence) string {
	if r.direction > 0 {
		return "ascend"
	}
	return "descend"
}

// timesAt reads the times of a list at the same path of each element. It returns false when an element has none there.
func (t *timeRules) timesAt(at *ident.Path, list *jsontree.Node, path []string) (out timeSequence, ok bool) {
	for i, item := range list.Items {
		here := at.Element(i, i)
		for _, name := range path {
			item.Open()
			if item = item.Member(name); item == nil {
				return out, false
			}
			here = here.Member(name, name)
		}
		if !mayBeTime(item) {
			return out, false
		}
		t, ok := timeOf(t.in.rules.at(here), item)
		if !ok {
			return out, false
		}
		if i == 0 {
			out.from, out.to = t, t
			continue
		}
		step := t.Compare(out.to)
		switch {
		case i == 1:
			out.direction = step
		case out.direction != step:
			return timeSequence{}, true
		}
		out.to = t
	}
	return out, true
}

// farApart reports whether the times of a side are further apart than the scenario took.
func (t *timeRules) farApart(side int, r timeSequence) bool {
	elapsed := t.in.place.Seen[side].Sub(t.in.ids.Times.Sides[side].Started)
	return r.to.Sub(r.from).Abs() > granularity+elapsed
}

// timePaths returns the paths to values in an element that may be times.
func timePaths(n *jsontree.Node, path []string, deep int) [][]string {
	n.Open()
	switch {
	case mayBeTime(n):
		return [][]string{path}
	case n.Kind != jsontree.Object || deep == 0:
		return nil
	}
	var out [][]string
	for i, name := range n.Names {
		if item := n.Items[i]; item.Kind == jsontree.Object || mayBeTime(item) {
			out = append(out, timePaths(item, append(path[:len(path):len(path)], name), deep-1)...)
		}
	}
	return out
}
