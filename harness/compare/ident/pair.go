package ident

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// An id behind a prefix is recognised by its digits: "req_Xk29dLmQp71b". But ids that are drawn from letters and digits
// often have only one digit or none, and look like words. Of those with twelve characters, that is one in five, or one
// in two if there are capitals. Two texts in the same place show more. If they differ in words of the same length
// behind the same prefix, these words may be ids. They are if they have enough digits together, or mix cases as words
// do not.

// MinPair is the smallest number of characters behind the prefix of an id.
const MinPair = 12

// bindPairs binds the ids that only two texts together reveal, and recognises them in longer texts from then on. It
// reports whether there are any, and why they cannot be partners.
func (b *Bindings) bindPairs(ref, cand string, where Location) (found bool, why diff.Reason) {
	for _, p := range b.WordPairs(ref, cand) {
		found = true
		if prefixLen(p[0]) == 0 {
			met := b.Met(TokKnown, p[0])
			if why := b.BindWhole(p[0], p[1], where); !why.None() {
				return true, why
			}
			if !met && len(b.noted) < maxAssumed {
				b.noted = append(b.noted, notedPair{Assumed{Reference: p[0], Candidate: p[1], Class: IDClass}, where})
			}
			continue
		}
		if why := b.bindKnown(tokPrefixed, p[0], p[1], where); !why.None() {
			return true, why
		}
	}
	if p := tempPair(ref, cand); p != nil {
		found = true
		if why := b.bindKnown(tokTemp, p[0], p[1], where); !why.None() {
			return true, why
		}
	}
	return found, diff.Reason{}
}

// WordPairs returns the ids that only two texts together reveal. It leaves out words with a known value inside, such as
// the client's own name, because that value must appear with its own partner.
func (v *vocabulary) WordPairs(ref, cand string) [][2]string {
	return slices.DeleteFunc(wordPairs(ref, cand), func(p [2]string) bool { return v.insideWord(0, p[0]) || v.insideWord(1, p[1]) })
}

// insideWord reports whether a known value of a side is a part of a word, but not all of it.
func (v *vocabulary) insideWord(side int, word string) bool {
	return slices.ContainsFunc(v.knownIn(side, word), func(k KnownValue) bool { return k.Value != word && strings.Contains(word, k.Value) })
}

// wordPairs returns the ids with their prefixes, if they have any. It returns nil when the words of the texts do not
// have the same lengths.
func wordPairs(ref, cand string) [][2]string {
	if len(ref) != len(cand) {
		return nil
	}
	var out [][2]string
	before := -1 // where the previous word begins, if only - or _ follows it
	for i := 0; i < len(ref); {
		n, m := wordLen(ref[i:]), wordLen(cand[i:])
		switch {
		case n != m:
			return nil
		case n == 0 && ref[i] != cand[i]:
			return nil
		case n == 0:
			if i > 0 && !inWord[ref[i-1]] || ref[i] != '_' && ref[i] != '-' {
				before = -1
			}
			i++
			continue
		}
		r, c := ref[i:i+n], cand[i:i+n]
		prefixed := before >= 0 && prefixLen(ref[before:]) == i-before && ref[before:i] == cand[before:i]
		switch {
		case r == c:
		case prefixed && (looksRandom(r, c) || shortHex(r, c) && !namesFile(ref[i+n:])):
			out = append(out, [2]string{ref[before : i+n], cand[before : i+n]})
		case isXID(r) && isXID(c), isCUID(r) && isCUID(c), isCUID2(r) && isCUID2(c):
			out = append(out, [2]string{r, c})
		}
		before, i = i, i+n
	}
	return out
}

// looksRandom reports whether two different words of the same length are ids.
func looksRandom(ref, cand string) bool {
	if len(ref) < MinPair {
		return false
	}
	figures := 0
	for _, s := range [2]string{ref, cand} {
		for i := range len(s) {
			if Digit(s[i]) {
				figures++
			}
		}
	}
	if figures >= 2 {
		return true
	}
	r, c := nanoMix(ref), nanoMix(cand)
	return r > 0 && c > 0 && 2*(r+c) >= len(ref) // words in camel case change class less often
}

// tempPair returns the names of two temporary files when one of them alone looks like a word: "/tmp/out-x7Yz12ab.txt"
// and "/tmp/out-dajwoybo.txt". The texts must be equal apart from one word.
func tempPair(ref, cand string) []string {
	if len(ref) != len(cand) || ref == cand {
		return nil
	}
	texts, other := [2]string{ref, cand}, [2]string{cand, ref}
	for side, text := range texts {
		tokens := scanShapes(nil, text, 0, len(text))
		if len(tokens) != 1 || tokens[0].Kind != tokTemp || len(scanShapes(nil, other[side], 0, len(text))) > 0 {
			continue
		}
		t := tokens[0]
		if t.prefix == 0 || !joinerBefore(text, t.Start+t.prefix) { // only - or . shows where the generated word begins
			continue
		}
		from := t.Start + t.prefix
		if text[:from] != other[side][:from] || text[t.End:] != other[side][t.End:] {
			continue
		}
		if wordLen(other[side][from:]) != t.End-from || t.End-from < MinKnown {
			continue
		}
		return []string{ref[t.Start:t.End], cand[t.Start:t.End]}
	}
	return nil
}

func joinerBefore(s string, i int) bool { return s[i-1] == '-' || s[i-1] == '.' }

// ComparablePair reports whether two texts are equal apart from generated values that only the two together reveal.
func (v *vocabulary) ComparablePair(ref, cand string) bool {
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
	together.indexes = [2]*knownIndex{}
	for side, text := range [2]string{ref, cand} {
		together.Known[side] = slices.Clone(v.knownIn(side, text))
		for _, pair := range ids {
			together.Known[side] = append(together.Known[side], KnownValue{pair[side], tokPrefixed})
		}
	}
	return SameShape(ref, together.Scan(0, ref), cand, together.Scan(1, cand))
}
