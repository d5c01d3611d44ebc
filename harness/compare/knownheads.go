package compare

import (
	"slices"
	"strings"
)

// Where few values are known, each is looked for in a text. Where there are many, a text is walked through once instead, and
// only those values are compared that begin as the text does at a place: else the cost would grow with the square of the ids.

// fewKnown is how many values are looked for one by one.
const fewKnown = 32

// knownHeads has known values by what they begin with.
type knownHeads struct {
	values []knownValue     // those that are here
	at     map[string][]int // their indexes, by their first minKnown bytes
	short  []int            // the indexes of those that are shorter
}

// heads returns the known values of a side by what they begin with. There may be more here than are known: those that bindings
// have got which these ones are a copy of.
func (b *bindings) heads(side int) *knownHeads {
	known, h := b.known[side], b.byHead[side]
	if n := len(known); h == nil || n <= len(h.values) && known[n-1] != h.values[n-1] || n > len(h.values) && len(h.values) > 0 && known[len(h.values)-1] != h.values[len(h.values)-1] {
		h = &knownHeads{at: map[string][]int{}}
		b.byHead[side] = h
	}
	for i := len(h.values); i < len(known); i++ {
		if value := known[i].value; len(value) < minKnown {
			h.short = append(h.short, i)
		} else {
			h.at[value[:minKnown]] = append(h.at[value[:minKnown]], i)
		}
		h.values = append(h.values, known[i])
	}
	return h
}

// standing returns the known values of a side that stand in a text, or more where there are few, in the order in which they
// became known.
func (b *bindings) standing(side int, s string) []knownValue {
	known := b.known[side]
	if len(known) <= fewKnown {
		return known
	}
	var found []int
	b.eachStanding(side, s, func(i int) bool {
		found = append(found, i)
		return true
	})
	slices.Sort(found)
	found = slices.Compact(found)
	out := make([]knownValue, len(found))
	for i, index := range found {
		out[i] = known[index]
	}
	return out
}

// eachStanding calls yield with the indexes of the known values of a side that stand in a text, until it returns false.
func (b *bindings) eachStanding(side int, s string, yield func(int) bool) {
	h, n := b.heads(side), len(b.known[side])
	for _, i := range h.short {
		if i < n && strings.Contains(s, h.values[i].value) && !yield(i) {
			return
		}
	}
	for at := 0; at+minKnown <= len(s); at++ {
		for _, i := range h.at[s[at:at+minKnown]] {
			if i < n && strings.HasPrefix(s[at:], h.values[i].value) && !yield(i) {
				return
			}
		}
	}
}

// mentions reports whether a known value of a side stands in a text.
func (b *bindings) mentions(side int, s string) (found bool) {
	if known := b.known[side]; len(known) <= fewKnown {
		return slices.ContainsFunc(known, func(k knownValue) bool {
			return len(k.value) <= len(s) && strings.Contains(s, k.value) // most texts are shorter
		})
	}
	b.eachStanding(side, s, func(int) bool {
		found = true
		return false
	})
	return found
}
