package ident

import "strings"

// Generated values are recognised by shapes that give as much evidence as possible: an alphabet, a length and, if there
// is one, the time inside. Checksums (32, 40 or 64 hexadecimal digits) are not among them, because equal contents have
// equal checksums.

// A segment is a part of a text between known values.
type segment struct {
	text       string // the text up to the end of the segment
	wordStart  int    // a word can begin here, whatever precedes it
	cutByKnown bool   // a known value follows directly, and continues the last word
}

// symbols are the other characters that a token can begin with: of [::1], a path, an escape, or a nanoid.
var symbols = [256]bool{'[': true, '/': true, '%': true, '-': true, '_': true}

// pastSymbol returns where to continue after a symbol that begins no token. A percent-encoded byte ends a word.
func (in *segment) pastSymbol(i int) int {
	if escaped(in.text[i:]) {
		in.wordStart = i + 3
		return in.wordStart
	}
	return i + 1
}

func escaped(s string) bool { return len(s) >= 3 && s[0] == '%' && hex(s[1]) && hex(s[2]) }

// symbolToken recognises a token that begins at i with a symbol.
func (in *segment) symbolToken(i int) (token, bool) {
	switch in.text[i] {
	case '[':
		if skip, n := portLen(in.text[i:]); n > 0 {
			return token{Kind: tokPort, Start: i + skip, End: i + skip + n}, true
		}
	case '-', '_':
		if in.nanoAt(i) {
			return token{Kind: tokNano, Start: i, End: i + nanoLen}, true
		}
	default:
		return in.tempAt(i)
	}
	return token{}, false
}

// wordKind returns the kind of a word that is an id as a whole; 0 for any other word.
func (in *segment) wordKind(i, n int) tokenKind {
	word := in.text[i : i+n]
	switch {
	case in.cutByKnown && i+n == len(in.text):
	case n == 27 && isKSUID(word):
		return tokKSUID
	case n == 24 && isObjectID(word):
		return tokObjectID
	case n == 32 && in.traceparentAt(i-3):
		return tokTrace
	case n == 16 && in.traceparentAt(i-36):
		return tokSpan
	case n == 32 && isCompact(word):
		return tokCompact
	}
	return 0
}

// unprefixedKind returns the kind of a text that is one id without a prefix; 0 for any other text.
func unprefixedKind(s string) tokenKind {
	if len(s) == 26 && ulidLen(s) > 0 {
		return tokULID
	}
	if wordLen(s) < len(s) {
		return 0
	}
	in := segment{text: s}
	return in.wordKind(0, len(s))
}

// The first characters of ids that begin with a time, at the beginning of 2017 and of 2033.
const (
	ksuid2017, ksuid2033     = "0hstmN", "507hHM"
	object2017, object2033   = "58684680", "7680c480"
	millis2017, millis2033   = "015957536400", "01cee6ff9400" // of UUIDs of version 7
	instant2017, instant2033 = "1e6cfb5", "1f8bff1"           // of versions 1 and 6
)

func between(s, from, to string) bool { return s[:len(from)] >= from && s[:len(to)] < to }

// isKSUID recognises 27 characters of base 62 that are not a hexadecimal number.
func isKSUID(s string) bool {
	if !between(s, ksuid2017, ksuid2033) {
		return false
	}
	letters := 0
	for _, c := range []byte(s) {
		if c|0x20 > 'f' {
			letters++
		}
	}
	return letters > 1 // one may be the x of 0x
}

// isObjectID recognises 24 hexadecimal digits in lower case.
func isObjectID(s string) bool {
	return between(s, object2017, object2033) && lowerHexOnly(s)
}

// isCompact recognises the 32 digits of a UUID by its version, its variant and, if it has one, its time.
func isCompact(s string) bool {
	if lower := strings.ToLower(s); s != lower {
		if s != strings.ToUpper(s) {
			return false
		}
		s = lower
	}
	if strings.IndexByte("89ab", s[16]) < 0 || !lowerHexOnly(s) {
		return false
	}
	switch s[12] {
	case '1':
		return between(s[13:16]+s[8:12], instant2017, instant2033)
	case '4':
		return true
	case '6':
		return between(s, instant2017, instant2033)
	case '7':
		return between(s, millis2017, millis2033)
	}
	return false
}

// traceparentAt reports whether a traceparent (W3C Trace Context §3.2) begins at i: "00-", 32 digits, "-", 16 digits, "-01".
func (in *segment) traceparentAt(i int) bool {
	const trace, span, flags = 3, 36, 53
	const size = flags + 2
	if i < 0 || len(in.text) < i+size || i > in.wordStart && Alnum(in.text[i-1]) || !Ends(in.text[i:], size) {
		return false
	}
	s := in.text[i : i+size]
	return s[:trace] == "00-" && s[span-1] == '-' && s[flags-1] == '-' &&
		lowerHexOnly(s[trace:span-1]) && lowerHexOnly(s[span:flags-1]) && lowerHexOnly(s[flags:])
}

// mayStartToken reports whether a token can begin with the first n bytes of text, which are a word. For most words,
// their length and the next byte rule that out.
func mayStartToken(text string, n int) bool {
	var next byte
	if n < len(text) {
		next = text[n]
	}
	switch next {
	case '-', '_':
		if n <= nanoLen {
			return true
		}
	case ',':
		if n == 3 {
			return true
		}
	case '.', ':':
		if text[0] == '1' || text[0] == 'l' {
			return true
		}
	}
	switch n {
	case 10, 13: // seconds and milliseconds
		return text[0] == '1'
	case 16, 21, 24, 26, 27, 32:
		return true
	}
	return false
}
