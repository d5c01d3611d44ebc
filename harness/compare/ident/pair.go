package ident

// An id behind a prefix is recognised by its digits: "req_Xk29dLmQp71b". But ids that are drawn from letters and digits
// often have only one digit or none, and look like words. Of those with twelve characters, that is one in five, or one
// in two if there are capitals. Two texts in the same place show more. If they differ in words of the same length
// behind the same prefix, these words may be ids. They are if they have enough digits together, or mix cases as words
// do not.

// MinPair is the smallest number of characters behind the prefix of an id.
const MinPair = 12

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
