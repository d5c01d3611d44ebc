package ident

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Vocabulary has everything that is recognised in the texts of both sides: a project's id shapes, and known values.
type Vocabulary struct {
	Shapes   projectShapes
	ShortIDs shortIDs // bound values that are too short to be known values
	known    [2]knownValues
	applied  map[string]bool // Bindings.Applied
}

// lockstepValues returns the values that lockstep itself gave to a side. The last segment of the directory is one of
// them, because servers derive names from paths in many ways.
func lockstepValues(t *transcript.Transcript) []KnownValue {
	var out []KnownValue
	if t.Unique != "" {
		out = append(out, KnownValue{t.Unique, tokUnique})
	}
	if dir := t.Directory; dir != "" {
		out = append(out, KnownValue{dir, tokDir}, KnownValue{url.PathEscape(dir), tokDirPath})
		if name := dir[strings.LastIndexByte(dir, '/')+1:]; len(name) >= MinKnown {
			out = append(out, KnownValue{name, tokDirName})
		}
	}
	if len(t.Lockstep) >= MinKnown {
		out = append(out, KnownValue{t.Lockstep, tokProgram})
	}
	return out
}

func (v *Vocabulary) clone(applied map[string]bool) Vocabulary {
	out := Vocabulary{Shapes: v.Shapes, ShortIDs: v.ShortIDs.clone(), applied: applied}
	for side := range v.known {
		out.known[side].values = slices.Clone(v.known[side].values)
	}
	return out
}

// Known returns the known values of a side, in the order in which they became known.
func (v *Vocabulary) Known(side int) []KnownValue { return v.known[side].values }

// Knowns counts the known values of both sides.
func (v *Vocabulary) Knowns() [2]int { return [2]int{len(v.known[0].values), len(v.known[1].values)} }

// remember makes Scan recognise two bound values inside longer texts, unless one of them is too short.
func (v *Vocabulary) remember(kind tokenKind, ref, cand string) {
	if min(len(ref), len(cand)) >= MinKnown {
		v.known[0].values = append(v.known[0].values, KnownValue{ref, kind})
		v.known[1].values = append(v.known[1].values, KnownValue{cand, kind})
	}
}

// Scan returns the tokens in a text of a side, in order. Ids of a project's own shapes take precedence over everything
// else.
func (v *Vocabulary) Scan(side int, s string) []token {
	known := v.known[side].in(s)
	if len(v.Shapes.all) == 0 {
		return Scan(s, known)
	}
	var out []token
	for at := 0; ; {
		found, rule, ok := v.Shapes.next(s, at)
		if !ok {
			return scanRange(out, s, at, len(s), known)
		}
		if end := timeAround(s, at, found); end > 0 {
			out = scanRange(out, s, at, end, known)
			at = end
			continue
		}
		v.applied[rule] = true
		out = append(scanRange(out, s, at, found.start, known), found.token)
		at = found.end
	}
}

// Mentions reports whether a known value of a side appears in a text.
func (v *Vocabulary) Mentions(side int, s string) bool { return v.known[side].appearIn(s) }

// MayBind reports whether data may contain a value that can be bound, of either side.
func (v *Vocabulary) MayBind(data []byte, json, escaped bool) bool {
	text := string(data)
	if v.Mentions(0, text) || v.Mentions(1, text) || v.ShortIDs.MayBeIn(0, text) || v.ShortIDs.MayBeIn(1, text) || v.Shapes.MayHold(data, escaped) {
		return true
	}
	if !json {
		return hasShape(text)
	}
	return documentHasShape(data)
}

// NothingToBind reports whether a text that both sides have certainly contains no value that can be bound.
func (v *Vocabulary) NothingToBind(s string) bool {
	return (jsontree.Plain(s) || !hasShape(s)) && !v.Mentions(0, s) && !v.Mentions(1, s) && !v.Shapes.found(s) &&
		!v.ShortIDs.MayBeIn(0, s) && !v.ShortIDs.MayBeIn(1, s)
}

// TextsComparable reports whether two texts are equal apart from generated values.
func (v *Vocabulary) TextsComparable(ref, cand string) bool {
	if ref == cand && !v.Mentions(0, ref) && !v.Mentions(1, ref) {
		return true
	}
	rt, ct := v.Scan(0, ref), v.Scan(1, cand)
	return SameShape(ref, rt, cand, ct)
}

// ProjectNumbers reports whether two numbers are ids of the same project shape.
func (v *Vocabulary) ProjectNumbers(ref, cand string) bool {
	if len(v.Shapes.all) == 0 {
		return false
	}
	r, c := v.Scan(0, ref), v.Scan(1, cand)
	return len(r) == 1 && len(c) == 1 && r[0].Kind >= tokProject && SameShape(ref, r, cand, c)
}

// ComparablePair reports whether two texts are equal apart from generated values that only the two together reveal.
func (v *Vocabulary) ComparablePair(ref, cand string) bool {
	if NanoidPair(ref, cand) {
		return true
	}
	if tempPair(ref, cand) != nil || EpochUnit(ref) != "" && EpochUnit(ref) == EpochUnit(cand) {
		return true
	}
	ids := v.WordPairs(ref, cand)
	if ids == nil {
		return false
	}
	together := *v
	for side, text := range [2]string{ref, cand} {
		values := slices.Clone(v.known[side].in(text))
		for _, pair := range ids {
			values = append(values, KnownValue{pair[side], tokPrefixed})
		}
		together.known[side] = knownValues{values: values}
	}
	return SameShape(ref, together.Scan(0, ref), cand, together.Scan(1, cand))
}

// WordPairs returns the ids that only two texts together reveal. It leaves out words with a known value inside, such as
// the client's own name, because that value must appear with its own partner.
func (v *Vocabulary) WordPairs(ref, cand string) [][2]string {
	return slices.DeleteFunc(wordPairs(ref, cand), func(p [2]string) bool { return v.insideWord(0, p[0]) || v.insideWord(1, p[1]) })
}

// insideWord reports whether a known value of a side is a part of a word, but not all of it.
func (v *Vocabulary) insideWord(side int, word string) bool {
	return slices.ContainsFunc(v.known[side].in(word), func(k KnownValue) bool { return k.Value != word && strings.Contains(word, k.Value) })
}

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
