package compare

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Of the answers of a burst nobody knows which belongs to which request. They are put in an order that does not depend on
// which came first. Those that are equal but for their ids have none: what comes behind the burst, such as a list, tells
// whose ids belong together. So it is looked at before they are paired. None of that is kept: it says which answers to
// compare, and not what is equal, and two answers that share an id where the reference has two are found as ever.

// pairBurst returns the exchanges of a burst in the order in which they are compared.
func (c *comparison) pairBurst(number int, ref, cand *transcript.Step) (rx, cx []*transcript.Exchange) {
	rules := c.rules.volatile(ref.ID)
	by := func(b *ident.Bindings) describer {
		return func(side int, x *transcript.Exchange) string {
			if x.Response == nil {
				return ""
			}
			return strconv.Itoa(x.Response.Status) + " " + c.OutlineBy(b, side, bodyContent(x.Response), rules)
		}
	}
	bare := by(c.IDs)
	if !hasDuplicates(bare, 0, ref.Exchanges) && !hasDuplicates(bare, 1, cand.Exchanges) {
		return matchBy(ref.Exchanges, cand.Exchanges, bare)
	}
	ahead := c.ahead()
	ahead.steps(number + 1)
	ahead.streams()
	return matchBy(ref.Exchanges, cand.Exchanges, bare, by(ahead.IDs.Named()))
}

// A describer says what a message is, up to renaming.
type describer func(side int, x *transcript.Exchange) string

// matchBy puts those messages first that are equal on both sides by the last telling, then those that are by the one before,
// and then the rest. No order depends on which came first, but of those that are equal by the first telling.
func matchBy(ref, cand []*transcript.Exchange, tellings ...describer) (rx, cx []*transcript.Exchange) {
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
func sortedBy(told describer, side int, xs []*transcript.Exchange) []*transcript.Exchange {
	keys := map[*transcript.Exchange]string{}
	for _, x := range xs {
		keys[x] = told(side, x)
	}
	return slices.SortedStableFunc(slices.Values(xs), func(a, b *transcript.Exchange) int { return cmp.Compare(keys[a], keys[b]) })
}

// hasDuplicates reports whether there are two answers that are equal but for what was made up.
func hasDuplicates(told describer, side int, xs []*transcript.Exchange) bool {
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
