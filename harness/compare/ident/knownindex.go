package ident

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// If few values are known, each one is searched for in a text. If there are many, that would cost the square of the
// number of ids. So the text is scanned once, and only those values are compared that begin with the same bytes as the
// text at that point.

// maxLinearKnown is the largest number of known values that are searched for one by one.
const maxLinearKnown = 32

// A vocabulary has everything that is recognised in the texts of both sides: a project's id shapes, and known values.
type vocabulary struct {
	Shapes   projectShapes
	Known    [2][]KnownValue // of each side; they count as tokens inside longer texts
	indexes  [2]*knownIndex  // find known values when there are many
	ShortIDs shortIDs        // bound values that are too short for Known
	Applied  map[string]bool // the rules that were applied, by their names in Result
}

// Knowns counts the known values of both sides.
func (v *vocabulary) Knowns() [2]int { return [2]int{len(v.Known[0]), len(v.Known[1])} }

// remember makes Scan recognise two bound values inside longer texts, unless one of them is too short.
func (v *vocabulary) remember(kind tokenKind, ref, cand string) {
	if min(len(ref), len(cand)) >= MinKnown {
		v.Known[0] = append(v.Known[0], KnownValue{ref, kind})
		v.Known[1] = append(v.Known[1], KnownValue{cand, kind})
	}
}

// knownIndex finds known values by their first bytes.
type knownIndex struct {
	values []KnownValue     // all indexed values
	at     map[string][]int // indexes into values, by the first MinKnown bytes
	short  []int            // indexes of the values that are shorter
}

// index returns the index of a side, brought up to date. It can have more values than Known, because bindings and their
// copies share it, and only one of them may have learned a value.
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

// knownIn returns the known values of a side that appear in a text, in the order in which they became known. If few are
// known, it returns all of them.
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

// eachKnownIn calls yield with the index of each known value of a side that appears in a text, until yield returns
// false.
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

// Mentions reports whether a known value of a side appears in a text.
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

// MayBind reports whether data may contain a value that can be bound, of either side.
func (v *vocabulary) MayBind(data []byte, json, escaped bool) bool {
	if v.mentionedIn(data) || v.Shapes.MayHold(data, escaped) {
		return true
	}
	if !json {
		return hasShape(string(data), false)
	}
	return documentHasShape(data)
}

// mentionedIn reports whether a known value of either side appears in data. If few are known, it does not copy data.
func (v *vocabulary) mentionedIn(data []byte) bool {
	if max(len(v.Known[0]), len(v.Known[1])) > maxLinearKnown || !v.ShortIDs.Empty() {
		text := string(data)
		return v.Mentions(0, text) || v.Mentions(1, text) || v.ShortIDs.MayBeIn(0, text) || v.ShortIDs.MayBeIn(1, text)
	}
	stands := func(k KnownValue) bool { return bytes.Contains(data, []byte(k.Value)) }
	return slices.ContainsFunc(v.Known[0], stands) || slices.ContainsFunc(v.Known[1], stands)
}

// NothingToBind reports whether a text that both sides have certainly contains no value that can be bound.
func (v *vocabulary) NothingToBind(s string) bool {
	return (jsontree.Plain(s) || !hasShape(s, false)) && !v.Mentions(0, s) && !v.Mentions(1, s) && !v.Shapes.found(s) &&
		!v.ShortIDs.MayBeIn(0, s) && !v.ShortIDs.MayBeIn(1, s)
}

// TextsComparable reports whether two texts are equal apart from generated values.
func (v *vocabulary) TextsComparable(ref, cand string) bool {
	if ref == cand && !v.Mentions(0, ref) && !v.Mentions(1, ref) {
		return true
	}
	rt, ct := v.Scan(0, ref), v.Scan(1, cand)
	return SameShape(ref, rt, cand, ct)
}
