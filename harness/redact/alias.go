package redact

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
)

// A secret can be an id as well: a session's, in a cookie and in a body. What stands in its place must be taken for an id of
// the same kind, or two servers that are alike would be told to make their ids differently. So a prefix has an alias of
// its own, the same before every secret, and what an id of a known shape is recognised by is in its alias, too: its
// alphabet, a version, and in the place of the time that it begins with another one, the same for all.

// alias returns the text that stands for a secret: as long, a letter of the same case for a letter, a digit for a digit,
// and another character of the same length for one that is not ASCII. Any other character stands for itself, so that a text
// with escapes stays one, unless there is hardly anything else. It depends on the secret alone, through SHA-256.
func alias(secret string) string {
	made := ""
	for key, tries := secret, 0; tries < 8 && (made == "" || made == secret); tries++ { // a short one can meet itself
		made = aliasBy(key, secret)
		key += "\x00"
	}
	return made
}

// aliasBy is alias for a key that stands for the secret.
func aliasBy(key, secret string) string {
	if made, ok := jwtAlias(secret); ok {
		return made
	}
	lead := leadOf(secret)
	var out strings.Builder
	for word := range strings.SplitAfterSeq(lead, "_") {
		out.WriteString(scrambled(word, word, lowers))
	}
	rest := secret[len(lead):]
	made := []byte(scrambled(rest, key, lettersOf(rest)))
	for _, shape := range shapes {
		if shape.is(rest) {
			shape.keep(made, rest)
			break
		}
	}
	out.Write(made)
	if weak(secret) {
		return withoutSymbols(out.String(), key)
	}
	return out.String()
}

// weak reports whether a secret has so few letters and digits that it could be guessed when all else is left as it is.
func weak(secret string) bool {
	const few = 4
	n := 0
	for _, c := range secret {
		if c >= utf8.RuneSelf || alphanumeric(byte(c)) {
			n++
		}
	}
	return n < few
}

// withoutSymbols replaces symbols by some that no notation has to escape. Blanks, and what JSON writes with a backslash and
// one more character, have no others of their length.
func withoutSymbols(made, key string) string {
	const others = "-._~"
	out := []byte(made)
	sum := sha256.Sum256([]byte("lockstep symbols " + key))
	for i, c := range out {
		if c > ' ' && c < utf8.RuneSelf && !alphanumeric(c) && c != '"' && c != '\\' && c != '/' {
			out[i] = others[sum[i%len(sum)]%byte(len(others))]
		}
	}
	return string(out)
}

// The letters that can stand for a letter, in small letters.
const (
	lowers    = "abcdefghijklmnopqrstuvwxyz"
	hexes     = "abcdef"
	crockford = "abcdefghjkmnpqrstvwxyz" // of the base 32 that ULIDs are written in
)

func lettersOf(text string) string {
	switch {
	case strings.Trim(strings.ToLower(text), "0123456789abcdef-") == "":
		return hexes
	case isULID(text):
		return crockford
	default:
		return lowers
	}
}

// scrambled puts other letters and digits in the place of a text's; which ones depends on the key.
func scrambled(text, key, letters string) string {
	out := []byte(text)
	var block [sha256.Size]byte
	for i, c := range out {
		if i%len(block) == 0 {
			block = sha256.Sum256(append([]byte{byte(i >> 8), byte(i)}, "lockstep "+key...))
		}
		n := block[i%len(block)]
		switch {
		case c >= '0' && c <= '9':
			out[i] = '0' + n%10
		case c >= 'a' && c <= 'z':
			out[i] = letters[int(n)%len(letters)]
		case c >= 'A' && c <= 'Z':
			out[i] = letters[int(n)%len(letters)] - 'a' + 'A'
		}
	}
	others(out, block[0])
	return string(out)
}

// beyond are the characters that stand for those that are not ASCII: for one up to a last one, some from a first one on. The
// number of each has as many bytes in UTF-8, and digits in either base, as those that it stands for.
var beyond = []struct{ last, first, some rune }{
	{0xff, 'à', 16},      // Latin
	{999, 'α', 16},       // Greek
	{0x7ff, 'а', 32},     // Cyrillic
	{0xfff, 'अ', 32},     // Devanagari
	{9999, 'ሀ', 64},      // Ethiopic
	{0xffff, '一', 128},   // Chinese
	{99_999, '𐐨', 32},    // Deseret
	{0x10ffff, '🐀', 128}, // animals
}

// others replaces the characters that are not ASCII.
func others(text []byte, salt byte) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r >= utf8.RuneSelf && n > 1 {
			k := slices.IndexFunc(beyond, func(b struct{ last, first, some rune }) bool { return r <= b.last })
			sum := sha256.Sum256(append([]byte{salt, byte(i >> 8), byte(i)}, text[i:i+n]...))
			utf8.EncodeRune(text[i:], beyond[k].first+rune(sum[0])%beyond[k].some)
		}
		i += n
	}
}

// leadOf returns what stands before the part of an id that is made up: "sk_live_", one or two words of small letters. What is
// behind it must be long, and have digits, or the words may be the secret.
func leadOf(secret string) string {
	lead := 0
	for range 2 {
		n := strings.IndexAny(secret[lead:], "_-")
		if n < 2 || n > 12 || strings.Trim(secret[lead:lead+n], lowers) != "" {
			break
		}
		lead += n + 1
	}
	rest := secret[lead:]
	if digits := len(rest) - len(strings.Map(notDigit, rest)); len(rest) < 12 || digits < 2 || strings.Trim(strings.ToLower(rest), lowers+"0123456789_-") != "" {
		return ""
	}
	return secret[:lead]
}

func notDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}
