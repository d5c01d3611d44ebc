package compare

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Of the answers of a burst nobody knows which belongs to which request. They are put in an order that does not depend on
// which came first. Those that are equal but for their ids have none: what comes behind the burst, such as a list, tells
// whose ids belong together. So it is looked at before they are paired. None of that is kept: it says which answers to
// compare, and not what is equal, and two answers that share an id where the reference has two are found as ever.

// burst returns the exchanges of a burst in the order in which they are compared.
func (c *comparison) burst(number int, ref, cand *transcript.Step) (rx, cx []*transcript.Exchange) {
	rules := c.rules.volatile(ref.ID)
	by := func(b *bindings) telling {
		return func(side int, x *transcript.Exchange) string {
			if x.Response == nil {
				return ""
			}
			return strconv.Itoa(x.Response.Status) + " " + c.outlineBy(b, side, bodyContent(x.Response), rules)
		}
	}
	bare := by(c.b)
	if !doubles(bare, 0, ref.Exchanges) && !doubles(bare, 1, cand.Exchanges) {
		return matched(ref.Exchanges, cand.Exchanges, bare)
	}
	ahead := *c
	ahead.ahead, ahead.b, ahead.came = true, c.b.clone(), map[string]string{}
	ahead.result = Result{NotCompared: map[string]int{}, Applied: map[string]bool{}}
	ahead.steps(number + 1)
	ahead.streams()
	return matched(ref.Exchanges, cand.Exchanges, bare, by(ahead.b.named()))
}

// A telling says what a message is, up to renaming.
type telling func(side int, x *transcript.Exchange) string

// matched puts those messages first that are equal on both sides by the last telling, then those that are by the one before,
// and then the rest. No order depends on which came first, but of those that are equal by the first telling.
func matched(ref, cand []*transcript.Exchange, tellings ...telling) (rx, cx []*transcript.Exchange) {
	ref, cand = sortedBy(tellings[0], 0, ref), sortedBy(tellings[0], 1, cand)
	for _, told := range slices.Backward(tellings) {
		open := map[string][]*transcript.Exchange{}
		for _, x := range cand {
			k := told(1, x)
			open[k] = append(open[k], x)
		}
		met := map[*transcript.Exchange]bool{}
		for _, x := range ref {
			if k := told(0, x); len(open[k]) > 0 {
				rx, cx = append(rx, x), append(cx, open[k][0])
				met[x], met[open[k][0]] = true, true
				open[k] = open[k][1:]
			}
		}
		done := func(x *transcript.Exchange) bool { return met[x] }
		ref, cand = slices.DeleteFunc(ref, done), slices.DeleteFunc(cand, done)
	}
	return append(rx, ref...), append(cx, cand...)
}

// sortedBy returns exchanges sorted by the text that describes each.
func sortedBy(told telling, side int, xs []*transcript.Exchange) []*transcript.Exchange {
	keys := map[*transcript.Exchange]string{}
	for _, x := range xs {
		keys[x] = told(side, x)
	}
	return slices.SortedStableFunc(slices.Values(xs), func(a, b *transcript.Exchange) int { return cmp.Compare(keys[a], keys[b]) })
}

// doubles reports whether there are two answers that are equal but for what was made up.
func doubles(told telling, side int, xs []*transcript.Exchange) bool {
	first := map[string]*transcript.Exchange{}
	for _, x := range xs {
		if x.Response == nil {
			continue
		}
		k := told(side, x)
		if other := first[k]; other == nil {
			first[k] = x
		} else if !bytes.Equal(other.Response.Body.Bytes, x.Response.Body.Bytes) {
			return true
		}
	}
	return false
}
