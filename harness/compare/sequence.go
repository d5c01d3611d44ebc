package compare

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Elements of two lists that are equal but for what is made up stand for each other by their index. Then only their times
// can tell that one list is the other way round: "newest first" where the reference has "oldest first".

// leastSequence is how many elements it takes before two orders are hardly opposite by chance: of pairs of lists of six in
// any order, one in 259,200 is sorted both ways. Servers that make elements side by side stamp them in any order.
const leastSequence = 6

// sequence compares the directions in which the times of two lists run. The elements stand for each other by index, and
// nothing has been told of them.
func (d *documents) sequence(at *spot, ref, cand *jsontree.Node) {
	ref.Open()
	cand.Open()
	if len(ref.Items) < 2 || len(ref.Items) != len(cand.Items) {
		return
	}
	for _, path := range timesIn(ref.Items[0], nil, mostNested) {
		r, rok := d.run(at, ref, path)
		if !rok || r.direction == 0 {
			continue
		}
		c, cok := d.run(at, cand, path)
		if !cok || r.direction != -c.direction || len(ref.Items) < leastSequence && !(d.farApart(0, r) && d.farApart(1, c)) {
			continue
		}
		name := strings.Join(append([]string{"of the elements"}, path...), "/")
		d.differ(OrderDiffers, at, ref, cand, fmt.Sprintf("the times %s %s in the reference's list, and %s in the candidate's", name, direction(r), direction(c)))
		return // the others follow from it, as likely as not
	}
}

// A timeRun is the times of a list, from the first element's to the last one's.
type timeRun struct {
	direction int // 1 where each is later than the one before it, -1 where each is earlier
	from, to  time.Time
}

func direction(r timeRun) string {
	if r.direction > 0 {
		return "ascend"
	}
	return "descend"
}

// run reads the times of a list at one path of each element; it reports false when one has none there.
func (d *documents) run(at *spot, list *jsontree.Node, path []string) (out timeRun, ok bool) {
	for i, item := range list.Items {
		here := at.element(i, i)
		for _, name := range path {
			item.Open()
			if item = item.Member(name); item == nil {
				return out, false
			}
			here = here.member(name, name)
		}
		if !mayBeTime(item) {
			return out, false
		}
		t, ok := momentOf(d.rule(here), item)
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
			return timeRun{}, true
		}
		out.to = t
	}
	return out, true
}

// farApart reports whether a side's times lie further apart than anything that the scenario did.
func (d *documents) farApart(side int, r timeRun) bool {
	elapsed := d.place.seen[side].Sub(d.b.sides[side].Started)
	return r.to.Sub(r.from).Abs() > granularity+elapsed
}

// timesIn returns the ways to what may be times in an element.
func timesIn(n *jsontree.Node, path []string, deep int) [][]string {
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
			out = append(out, timesIn(item, append(path[:len(path):len(path)], name), deep-1)...)
		}
	}
	return out
}
