package compare

import (
	"slices"
	"strings"
)

// An id behind a prefix is recognised by its digits: "req_Xk29dLmQp71b". Of those that draw from all letters and digits,
// many have none or one, and look like a word: a fifth of those with twelve small letters and digits, every other one
// with capitals. Two texts that stand in the same place tell more than one. Where they differ in words as long as each
// other behind the same prefix, and these have digits enough together, or are mixed as no words are, they are ids.

// minPair is how many characters an id behind a prefix has at least.
const minPair = 12

// pairs binds the ids of two texts that only the two together show, and makes them known. It reports whether there are
// any, and why they cannot be partners; "" when they can.
func (b *bindings) pairs(ref, cand string, where location) (found bool, why string) {
	for _, p := range b.wordPairs(ref, cand) {
		found = true
		if prefixLen(p[0]) == 0 {
			met := b.met(tokKnown, p[0])
			if why := b.bindWhole(p[0], p[1], where); why != "" {
				return true, why
			}
			if !met && len(b.noted) < mostBeside {
				b.noted = append(b.noted, notedPair{Beside{Reference: p[0], Candidate: p[1], Class: AnID}, where})
			}
			continue
		}
		if why := b.bind(tokPrefixed, p[0], p[1], where); why != "" {
			return true, why
		}
		b.remember(tokPrefixed, p[0], p[1])
	}
	if p := temporaryPair(ref, cand); p != nil {
		found = true
		if why := b.bind(tokTemp, p[0], p[1], where); why != "" {
			return true, why
		}
		b.remember(tokTemp, p[0], p[1])
	}
	return found, ""
}

// wordPairs returns the ids of two texts that only the two together show. One that has in it what is known, such as the
// client's own name, is none of them: that must stand with its own partner.
func (b *bindings) wordPairs(ref, cand string) [][2]string {
	return slices.DeleteFunc(wordPairs(ref, cand), func(p [2]string) bool { return b.within(0, p[0]) || b.within(1, p[1]) })
}

// within reports whether a known value of a side stands in a word, and is not all of it.
func (b *bindings) within(side int, word string) bool {
	return slices.ContainsFunc(b.standing(side, word), func(k knownValue) bool { return k.value != word && strings.Contains(word, k.value) })
}

// wordPairs returns the ids, with their prefixes if they have any; nil when the texts are not built of words as long as each other.
func wordPairs(ref, cand string) [][2]string {
	if len(ref) != len(cand) {
		return nil
	}
	var out [][2]string
	before := -1 // where the word before begins, when only a joint stands between
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
		case prefixed && (madeUp(r, c) || shortHex(r, c) && !namesFile(ref[i+n:])):
			out = append(out, [2]string{ref[before : i+n], cand[before : i+n]})
		case isXID(r) && isXID(c), isCUID(r) && isCUID(c), isCUID2(r) && isCUID2(c):
			out = append(out, [2]string{r, c})
		}
		before, i = i, i+n
	}
	return out
}

// madeUp reports whether two different words of one length are ids.
func madeUp(ref, cand string) bool {
	if len(ref) < minPair {
		return false
	}
	figures := 0
	for _, s := range [2]string{ref, cand} {
		for i := range len(s) {
			if digit(s[i]) {
				figures++
			}
		}
	}
	if figures >= 2 {
		return true
	}
	r, c := nanoMix(ref), nanoMix(cand)
	return r > 0 && c > 0 && 2*(r+c) >= len(ref) // letters of a word with humps take turns less often
}

// temporaryPair returns the names of two temporary files of which one looks like a word: "/tmp/out-x7Yz12ab.txt" beside
// "/tmp/out-dajwoybo.txt". All but one word of the name must be the same.
func temporaryPair(ref, cand string) []string {
	if len(ref) != len(cand) || ref == cand {
		return nil
	}
	texts, other := [2]string{ref, cand}, [2]string{cand, ref}
	for side, text := range texts {
		tokens := scanShapes(nil, text, 0, len(text))
		if len(tokens) != 1 || tokens[0].kind != tokTemp || len(scanShapes(nil, other[side], 0, len(text))) > 0 {
			continue
		}
		t := tokens[0]
		if t.lead == 0 || !jointBefore(text, t.start+t.lead) { // words are told by what joins them
			continue
		}
		from := t.start + t.lead
		if text[:from] != other[side][:from] || text[t.end:] != other[side][t.end:] {
			continue
		}
		if wordLen(other[side][from:]) != t.end-from || t.end-from < minKnown {
			continue
		}
		return []string{ref[t.start:t.end], cand[t.start:t.end]}
	}
	return nil
}

func jointBefore(s string, i int) bool { return s[i-1] == '-' || s[i-1] == '.' }
