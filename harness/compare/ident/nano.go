package ident

// A nanoid has 21 characters: letters of both cases, digits, dashes and underscores. So do words that are joined, and
// names with humps. What tells them apart is how often letters and digits take turns.

const nanoLen = 21

// minNanoMix is the mix of a text that is a nanoid by itself; two that stand in one place need less each.
const (
	minNanoMix     = 7
	minNanoPairMix = 10
)

// nanoMix says how well mixed a text is: 0 without letters of both cases, else in how many places a letter or digit
// follows one of another class, and 3 more with a digit. That a small letter follows a capital says nothing.
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

// classOf has the class of each letter and digit: digits, lowerHex for all small letters, upperHex for all capitals.
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

// joinedLen returns how many characters of a nanoid's alphabet stand at i, one more than most if there are more; 0 when a
// known value goes on with them.
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

// nanoAt reports whether a nanoid begins at i and ends where its alphabet does.
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

// joined recognises what may have joints: an id behind a prefix, a nanoid, or one behind a prefix.
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

// NanoidPair reports whether two texts that stand in the same place are nanoids, although one of them, or each by itself,
// could be a word.
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
