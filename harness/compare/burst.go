package compare

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Nothing shows which response of a burst belongs to which request. So responses are sorted in a way that does not
// depend on which one came first. If some are equal apart from their ids, that is not enough. But what follows the
// burst, such as a list, shows whose ids belong together. So the following steps are compared first, and their findings
// and bindings are discarded: they say which responses to compare, and not what is equal. If two responses share an id
// where the reference has two, that is still found.

// pairBurst returns the exchanges of a burst in the order in which to compare them.
func (c *comparison) pairBurst(number int, ref, cand *transcript.Step) (rx, cx []*transcript.Exchange) {
	rules := c.rules.volatile(ref.ID)
	by := func(skeletons ident.Skeletons) describer {
		return func(side int, x *transcript.Exchange) string {
			if x.Response == nil {
				return ""
			}
			return strconv.Itoa(x.Response.Status) + " " + c.json.OutlineBy(skeletons, side, bodyContent(x.Response), rules)
		}
	}
	bare := by(c.json.IDs.Skeletons())
	if !hasDuplicates(bare, 0, ref.Exchanges) && !hasDuplicates(bare, 1, cand.Exchanges) {
		return matchBy(ref.Exchanges, cand.Exchanges, bare)
	}
	ahead := c.ahead()
	ahead.steps(number + 1)
	ahead.streams()
	return matchBy(ref.Exchanges, cand.Exchanges, bare, by(ahead.json.IDs.NamedSkeletons()))
}

// A describer describes a message apart from its generated values.
type describer func(side int, x *transcript.Exchange) string

// matchBy pairs the messages with equal descriptions: first by the last describer, then by the one before, and so on.
// The rest comes at the end. The result depends on which message came first only if the first describer does not tell
// them apart.
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

// sortedBy sorts exchanges by their descriptions.
func sortedBy(told describer, side int, xs []*transcript.Exchange) []*transcript.Exchange {
	keys := map[*transcript.Exchange]string{}
	for _, x := range xs {
		keys[x] = told(side, x)
	}
	return slices.SortedStableFunc(slices.Values(xs), func(a, b *transcript.Exchange) int { return cmp.Compare(keys[a], keys[b]) })
}

// hasDuplicates reports whether two responses differ in nothing but generated values.
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
