package compare

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Of the answers of a burst nobody knows which belongs to which request. They are put in an order that does not depend on
// which came first. Those that are equal but for their ids have none: what comes behind the burst, such as a list, tells
// whose ids belong together. So it is looked at before they are paired. None of that is kept: it says which answers to
// compare, and not what is equal, and two answers that share an id where the reference has two are found as ever.

// burst returns the exchanges of a burst in the order in which they are compared.
func (c *comparison) burst(number int, ref, cand *transcript.Step) (rx, cx []*transcript.Exchange) {
	told := func(side int, x *transcript.Exchange) string {
		return c.b.skeleton(side, string(x.Response.Body.Bytes))
	}
	rx, cx = sortedBy(told, 0, ref.Exchanges), sortedBy(told, 1, cand.Exchanges)
	if !doubles(told, 0, rx) && !doubles(told, 1, cx) {
		return rx, cx
	}
	ahead := *c
	ahead.ahead, ahead.b, ahead.came = true, c.b.clone(), map[string]string{}
	ahead.result = Result{NotCompared: map[string]int{}, Applied: map[string]bool{}}
	ahead.steps(number + 1)
	ahead.streams()
	ahead.b = ahead.b.named()
	rules := c.rules.volatile(ref.ID)
	named := func(side int, x *transcript.Exchange) string {
		return ahead.outlineOf(side, bodyContent(x.Response), rules)
	}
	return matched(named, sortedBy(named, 0, rx), sortedBy(named, 1, cx))
}

// matched puts those answers first that are equal on both sides, in one order.
func matched(told telling, ref, cand []*transcript.Exchange) (rx, cx []*transcript.Exchange) {
	type key struct {
		status int
		body   string
	}
	keyOf := func(side int, x *transcript.Exchange) key {
		if x.Response == nil {
			return key{}
		}
		return key{x.Response.Status, told(side, x)}
	}
	open := map[key][]*transcript.Exchange{}
	for _, x := range cand {
		k := keyOf(1, x)
		open[k] = append(open[k], x)
	}
	met := map[*transcript.Exchange]bool{}
	for _, x := range ref {
		if k := keyOf(0, x); len(open[k]) > 0 {
			rx, cx = append(rx, x), append(cx, open[k][0])
			met[x], met[open[k][0]] = true, true
			open[k] = open[k][1:]
		}
	}
	done := func(x *transcript.Exchange) bool { return met[x] }
	return append(rx, slices.DeleteFunc(ref, done)...), append(cx, slices.DeleteFunc(cand, done)...)
}

// A telling says what an answer is, up to renaming.
type telling func(side int, x *transcript.Exchange) string

// sortedBy returns exchanges by their status, then by what their answers are.
func sortedBy(told telling, side int, xs []*transcript.Exchange) []*transcript.Exchange {
	type keyed struct {
		status int
		body   string
		x      *transcript.Exchange
	}
	all := make([]keyed, len(xs))
	for i, x := range xs {
		all[i].x = x
		if x.Response != nil {
			all[i].status, all[i].body = x.Response.Status, told(side, x)
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.status, b.status), cmp.Compare(a.body, b.body))
	})
	out := make([]*transcript.Exchange, len(xs))
	for i := range all {
		out[i] = all[i].x
	}
	return out
}

// doubles reports whether there are two answers, in order, that are equal but for what was made up.
func doubles(told telling, side int, xs []*transcript.Exchange) bool {
	for i := 1; i < len(xs); i++ {
		a, b := xs[i-1].Response, xs[i].Response
		if a != nil && b != nil && a.Status == b.Status && string(a.Body.Bytes) != string(b.Body.Bytes) && told(side, xs[i-1]) == told(side, xs[i]) {
			return true
		}
	}
	return false
}
