package ident

import (
	"slices"
	"strings"
)

// If few values are known, each one is searched for in a text. If there are many, that would cost the square of the
// number of ids. So the text is scanned once, and only those values are compared that begin with the same bytes as the
// text at that point.

// maxLinearKnown is the largest number of known values that are searched for one by one.
const maxLinearKnown = 32

// MinKnown is the length from which bound values are searched for inside longer texts. Shorter ones would be found by
// chance.
const MinKnown = 6

// knownValues has the known values of a side, which count as tokens inside longer texts. New ones are only appended.
type knownValues struct {
	values  []KnownValue
	indexed int              // how many of the values at and short have
	at      map[string][]int // indexes into values, by the first MinKnown bytes
	short   []int            // indexes of the values that are shorter
}

// index brings at and short up to date.
func (k *knownValues) index() {
	if k.at == nil {
		k.at = map[string][]int{}
	}
	for ; k.indexed < len(k.values); k.indexed++ {
		if value := k.values[k.indexed].Value; len(value) < MinKnown {
			k.short = append(k.short, k.indexed)
		} else {
			k.at[value[:MinKnown]] = append(k.at[value[:MinKnown]], k.indexed)
		}
	}
}

// in returns the values that appear in a text, in the order in which they became known. If there are few, it returns
// all of them.
func (k *knownValues) in(s string) []KnownValue {
	if len(k.values) <= maxLinearKnown {
		return k.values
	}
	var found []int
	k.eachIn(s, func(i int) bool {
		found = append(found, i)
		return true
	})
	slices.Sort(found)
	found = slices.Compact(found)
	out := make([]KnownValue, len(found))
	for i, index := range found {
		out[i] = k.values[index]
	}
	return out
}

// appearIn reports whether any of the values appears in a text.
func (k *knownValues) appearIn(s string) (found bool) {
	if len(k.values) <= maxLinearKnown {
		return slices.ContainsFunc(k.values, func(v KnownValue) bool {
			return len(v.Value) <= len(s) && strings.Contains(s, v.Value) // most texts are shorter
		})
	}
	k.eachIn(s, func(int) bool {
		found = true
		return false
	})
	return found
}

// eachIn calls yield with the index of each value that appears in a text, until yield returns false.
func (k *knownValues) eachIn(s string, yield func(int) bool) {
	k.index()
	for _, i := range k.short {
		if strings.Contains(s, k.values[i].Value) && !yield(i) {
			return
		}
	}
	for at := 0; at+MinKnown <= len(s); at++ {
		for _, i := range k.at[s[at:at+MinKnown]] {
			if strings.HasPrefix(s[at:], k.values[i].Value) && !yield(i) {
				return
			}
		}
	}
}
