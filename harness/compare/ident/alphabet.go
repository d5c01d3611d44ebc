package ident

import "strings"

// An alphabet is a set of classes of characters.
type alphabet byte

const (
	digits alphabet = 1 << iota
	lowerHex
	lowerRest
	upperHex
	upperRest
)

// alphabets are the sets that ids are drawn from. Each comes before its supersets.
var alphabets = []struct {
	set  alphabet
	size float64
	name string
}{
	{digits, 10, "digits"},
	{digits | lowerHex, 16, "lower-case hexadecimal digits"},
	{digits | upperHex, 16, "upper-case hexadecimal digits"},
	{digits | lowerHex | lowerRest, 36, "lower-case letters and digits"},
	{digits | upperHex | upperRest, 36, "upper-case letters and digits"},
	{digits | lowerHex | lowerRest | upperHex | upperRest, 62, "letters of both cases and digits"},
}

// class returns the index of the smallest alphabet that contains the whole set.
func (a alphabet) class() int {
	for i := range alphabets {
		if a&^alphabets[i].set == 0 {
			return i
		}
	}
	return len(alphabets) - 1
}

const (
	lower = lowerHex | lowerRest
	upper = upperHex | upperRest
)

// classes has the class of each letter and digit; 0 for all other characters.
var classes = func() (out [256]alphabet) {
	for c := range out {
		switch {
		case Digit(byte(c)):
			out[c] = digits
		case c >= 'a' && c <= 'f':
			out[c] = lowerHex
		case c >= 'a' && c <= 'z':
			out[c] = lowerRest
		case c >= 'A' && c <= 'F':
			out[c] = upperHex
		case c >= 'A' && c <= 'Z':
			out[c] = upperRest
		}
	}
	return out
}()

// InNano is the alphabet of nanoids.
var InNano = func() (in [256]bool) {
	for c := range in {
		in[c] = classes[c] != 0 || c == '-' || c == '_'
	}
	return in
}()

func alphabetOf(s string) (out alphabet) {
	for i := range len(s) {
		out |= classes[s[i]]
	}
	return out
}

func Digit(c byte) bool { return c >= '0' && c <= '9' }
func Alnum(c byte) bool { return Digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }
func hex(c byte) bool   { return Digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// Ends reports whether a word ends at n.
func Ends(s string, n int) bool { return n == len(s) || !Alnum(s[n]) }

// wordLen returns the number of letters and digits at the start of a text.
func wordLen(s string) int {
	n := 0
	for n < len(s) && classes[s[n]] != 0 {
		n++
	}
	return n
}

func countDigits(s string) (n int) {
	for i := range len(s) {
		if Digit(s[i]) {
			n++
		}
	}
	return n
}

func allDigits(s string) bool    { return strings.Trim(s, "0123456789") == "" }
func lowerHexOnly(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
func inBase36(s string) bool     { return strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == "" }

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
	var seen, before alphabet
	turns := 0
	for i := range len(s) {
		now := classes[s[i]]
		for _, letters := range [...]alphabet{lower, upper} {
			if now&letters != 0 {
				now = letters
			}
		}
		if before != 0 && now != 0 && before != now && (before != upper || now != lower) {
			turns++
		}
		seen, before = seen|now, now
	}
	switch {
	case seen&lower == 0 || seen&upper == 0:
		return 0
	case seen&digits != 0:
		return turns + 3
	default:
		return turns
	}
}

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

func isNano(s string) bool { return countDigits(s) > 0 && nanoMix(s) >= minNanoMix }

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
	return r > 0 && c > 0 && r+c >= minNanoPairMix && countDigits(ref)+countDigits(cand) > 0
}
