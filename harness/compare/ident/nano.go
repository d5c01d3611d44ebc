package ident

// A nanoid has 21 characters: letters of both cases, digits, dashes and underscores. Joined words and names in camel
// case look the same. What tells them apart is how often the class of the characters changes.

const nanoLen = 21

// minNanoMix is the lowest nanoMix of a nanoid that is recognised alone. minNanoPairMix is the lowest sum of two in the
// same place.
const (
	minNanoMix     = 7
	minNanoPairMix = 10
)

// nanoMix measures how well mixed a text is. It is 0 unless there are letters of both cases. Otherwise it counts where
// a letter or digit follows one of another class, and adds 3 if there is a digit. A lower-case letter after a capital
// does not count, because words have that, too.
func nanoMix(s string) int {
	var seen alphabet
	turns := 0
	for i := range len(s) {
		now := classOf[s[i]]
		seen |= now
		if i == 0 || now == 0 {
			continue
		}
		if before := classOf[s[i-1]]; before != 0 && before != now && (before != upperHex || now != lowerHex) {
			turns++
		}
	}
	switch {
	case seen&lowerHex == 0 || seen&upperHex == 0:
		return 0
	case seen&digits != 0:
		return turns + 3
	default:
		return turns
	}
}

// classOf has the class of each letter and digit: digits, lowerHex for all lower-case letters, upperHex for all
// capitals.
var classOf = func() (out [256]alphabet) {
	for c := range out {
		switch {
		case Digit(byte(c)):
			out[c] = digits
		case c >= 'a' && c <= 'z':
			out[c] = lowerHex
		case c >= 'A' && c <= 'Z':
			out[c] = upperHex
		}
	}
	return out
}()

// joinedLen returns how many characters of a nanoid's alphabet there are from i on, counting up to most+1. It returns 0
// when a known value directly follows them, because they are not a whole word then.
func (in *segment) joinedLen(i, most int) int {
	n := 0
	for i+n < len(in.text) && n <= most && InNano[in.text[i+n]] {
		n++
	}
	if in.cutByKnown && i+n == len(in.text) {
		return 0
	}
	return n
}

// nanoAt reports whether a nanoid begins at i, with no further characters of its alphabet before or after it.
func (in *segment) nanoAt(i int) bool {
	return (i == in.wordStart || !InNano[in.text[i-1]]) && in.joinedLen(i, nanoLen) == nanoLen && isNano(in.text[i:i+nanoLen])
}

func isNano(s string) bool { return hasDigit(s) && nanoMix(s) >= minNanoMix }

func hasDigit(s string) bool {
	for i := range len(s) {
		if Digit(s[i]) {
			return true
		}
	}
	return false
}

// joined recognises tokens that can contain dashes and underscores: an id behind a prefix, a nanoid, or a nanoid behind
// a prefix.
func (in *segment) joined(i int) (token, bool) {
	lead, n := prefixedLen(in.text[i:])
	whole := n > 0 && (i+n == len(in.text) || !InNano[in.text[i+n]])
	if !whole {
		if in.nanoAt(i) {
			return token{Kind: tokNano, Start: i, End: i + nanoLen}, true
		}
		if p := prefixLen(in.text[i:]); p > 0 && in.joinedLen(i+p, nanoLen) == nanoLen && isNano(in.text[i+p:i+p+nanoLen]) {
			return token{Kind: tokPrefixed, Start: i, End: i + p + nanoLen, prefix: p}, true
		}
	}
	return token{Kind: tokPrefixed, Start: i, End: i + n, prefix: lead}, n > 0
}

// NanoidPair reports whether two texts in the same place are nanoids, although one or both of them alone could be
// words.
func NanoidPair(ref, cand string) bool {
	if len(ref) != nanoLen || len(cand) != nanoLen || ref == cand {
		return false
	}
	for i := range nanoLen {
		if !InNano[ref[i]] || !InNano[cand[i]] {
			return false
		}
	}
	r, c := nanoMix(ref), nanoMix(cand)
	return r > 0 && c > 0 && r+c >= minNanoPairMix && (hasDigit(ref) || hasDigit(cand))
}
