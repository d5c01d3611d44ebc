package ident

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Where few values are known, each is looked for in a text. Where there are many, a text is walked through once instead, and
// only those values are compared that begin as the text does at a place: else the cost would grow with the square of the ids.

// maxLinearKnown is how many values are looked for one by one.
const maxLinearKnown = 32

// A vocabulary is what is recognised in the texts of two sides: the project's shapes of ids, and values that are known.
type vocabulary struct {
	Shapes   projectShapes
	Known    [2][]KnownValue // of each side, which count as tokens inside longer texts
	indexes  [2]*knownIndex  // find them where they are many
	ShortIDs shortIDs        // bound values that are too short for that
	Applied  map[string]bool // the rules that had something to say, by what Result calls them
}

// Knowns counts the known values of both sides.
func (v *vocabulary) Knowns() [2]int { return [2]int{len(v.Known[0]), len(v.Known[1])} }

// remember makes two bound values known inside longer texts.
func (v *vocabulary) remember(kind tokenKind, ref, cand string) {
	if min(len(ref), len(cand)) >= MinKnown {
		v.Known[0] = append(v.Known[0], KnownValue{ref, kind})
		v.Known[1] = append(v.Known[1], KnownValue{cand, kind})
	}
}

// knownIndex has known values by what they begin with.
type knownIndex struct {
	values []KnownValue     // those that are here
	at     map[string][]int // their indexes, by their first minKnown bytes
	short  []int            // the indexes of those that are shorter
}

// index returns the known values of a side by what they begin with. There may be more here than are known: those that bindings
// have got which these ones are a copy of.
func (v *vocabulary) index(side int) *knownIndex {
	known, h := v.Known[side], v.indexes[side]
	if n := len(known); h == nil || n <= len(h.values) && known[n-1] != h.values[n-1] || n > len(h.values) && len(h.values) > 0 && known[len(h.values)-1] != h.values[len(h.values)-1] {
		h = &knownIndex{at: map[string][]int{}}
		v.indexes[side] = h
	}
	for i := len(h.values); i < len(known); i++ {
		if value := known[i].Value; len(value) < MinKnown {
			h.short = append(h.short, i)
		} else {
			h.at[value[:MinKnown]] = append(h.at[value[:MinKnown]], i)
		}
		h.values = append(h.values, known[i])
	}
	return h
}

// knownIn returns the known values of a side that stand in a text, or more where there are few, in the order in which they
// became known.
func (v *vocabulary) knownIn(side int, s string) []KnownValue {
	known := v.Known[side]
	if len(known) <= maxLinearKnown {
		return known
	}
	var found []int
	v.eachKnownIn(side, s, func(i int) bool {
		found = append(found, i)
		return true
	})
	slices.Sort(found)
	found = slices.Compact(found)
	out := make([]KnownValue, len(found))
	for i, index := range found {
		out[i] = known[index]
	}
	return out
}

// eachKnownIn calls yield with the indexes of the known values of a side that stand in a text, until it returns false.
func (v *vocabulary) eachKnownIn(side int, s string, yield func(int) bool) {
	h, n := v.index(side), len(v.Known[side])
	for _, i := range h.short {
		if i < n && strings.Contains(s, h.values[i].Value) && !yield(i) {
			return
		}
	}
	for at := 0; at+MinKnown <= len(s); at++ {
		for _, i := range h.at[s[at:at+MinKnown]] {
			if i < n && strings.HasPrefix(s[at:], h.values[i].Value) && !yield(i) {
				return
			}
		}
	}
}

// Mentions reports whether a known value of a side stands in a text.
func (v *vocabulary) Mentions(side int, s string) (found bool) {
	if known := v.Known[side]; len(known) <= maxLinearKnown {
		return slices.ContainsFunc(known, func(k KnownValue) bool {
			return len(k.Value) <= len(s) && strings.Contains(s, k.Value) // most texts are shorter
		})
	}
	v.eachKnownIn(side, s, func(int) bool {
		found = true
		return false
	})
	return found
}

// MayBind reports whether a content may have anything in it that can be bound, on one side or the other.
func (v *vocabulary) MayBind(data []byte, json, escaped bool) bool {
	if v.mentionedIn(data) || v.Shapes.MayHold(data, escaped) {
		return true
	}
	if !json {
		return hasShape(string(data), false)
	}
	return documentHasShape(data)
}

// mentionedIn reports whether a value that is known on either side stands in a body. Few values are looked for without a
// copy of it.
func (v *vocabulary) mentionedIn(data []byte) bool {
	if max(len(v.Known[0]), len(v.Known[1])) > maxLinearKnown || !v.ShortIDs.Empty() {
		text := string(data)
		return v.Mentions(0, text) || v.Mentions(1, text) || v.ShortIDs.MayBeIn(0, text) || v.ShortIDs.MayBeIn(1, text)
	}
	stands := func(k KnownValue) bool { return bytes.Contains(data, []byte(k.Value)) }
	return slices.ContainsFunc(v.Known[0], stands) || slices.ContainsFunc(v.Known[1], stands)
}

// NothingToBind reports whether a text that stands on both sides has certainly no value in it that can be bound.
func (v *vocabulary) NothingToBind(s string) bool {
	return (jsontree.Plain(s) || !hasShape(s, false)) && !v.Mentions(0, s) && !v.Mentions(1, s) && !v.Shapes.found(s) &&
		!v.ShortIDs.MayBeIn(0, s) && !v.ShortIDs.MayBeIn(1, s)
}

// TextsComparable reports whether two texts are equal up to renaming.
func (v *vocabulary) TextsComparable(ref, cand string) bool {
	if ref == cand && !v.Mentions(0, ref) && !v.Mentions(1, ref) {
		return true
	}
	rt, ct := v.Scan(0, ref), v.Scan(1, cand)
	return SameShape(ref, rt, cand, ct)
}
