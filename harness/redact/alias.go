package redact

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
)

// A secret can also be an id, such as a session's, in a cookie and in a body. Its replacement must look like an id of
// the same kind. Otherwise two equal servers would seem to generate their ids in different ways. So every prefix has
// one alias, the same for all secrets. An alias also keeps what identifies the shape of an id: its alphabet and its
// version. A time at the beginning of an id is replaced by another time, the same for all ids.

// alias returns the replacement of a secret. It has the same length: a letter replaces a letter of the same case, and a
// digit replaces a digit. A character that is not ASCII becomes another one that takes as many bytes. All other
// characters are kept, so that a text with escapes stays valid, unless there is little else. The alias depends only on
// the secret, through SHA-256.
func alias(secret string) string {
	made := ""
	for key, tries := secret, 0; tries < 8 && (made == "" || made == secret); tries++ { // a short secret can be its own alias
		made = aliasBy(key, secret)
		key += "\x00"
	}
	return made
}

// aliasBy returns the alias of a secret for a key. alias derives further keys from the secret when the first one does
// not change it.
func aliasBy(key, secret string) string {
	if made, ok := jwtAlias(secret); ok {
		return made
	}
	lead := prefixOf(secret)
	var out strings.Builder
	for word := range strings.SplitAfterSeq(lead, "_") {
		out.WriteString(scrambled(word, word, lowerLetters))
	}
	rest := secret[len(lead):]
	made := []byte(scrambled(rest, key, alphabetOf(rest)))
	for _, shape := range idShapes {
		if shape.is(rest) {
			shape.keep(made, rest)
			break
		}
	}
	out.Write(made)
	if guessable(secret) {
		return withoutSymbols(out.String(), key)
	}
	return out.String()
}

// guessable reports whether a secret has so few letters and digits that it could be guessed if everything else were
// kept.
func guessable(secret string) bool {
	const few = 4
	n := 0
	for _, c := range secret {
		if c >= utf8.RuneSelf || alphanumeric(byte(c)) {
			n++
		}
	}
	return n < few
}

// withoutSymbols replaces symbols by some that no notation has to escape. It keeps spaces, and characters that JSON
// escapes by a backslash and one character, because no other character has their length.
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

// The letters that can replace a letter, in lower case.
const (
	lowerLetters     = "abcdefghijklmnopqrstuvwxyz"
	hexLetters       = "abcdef"
	crockfordLetters = "abcdefghjkmnpqrstvwxyz" // of the base 32 in which ULIDs are written
)

func alphabetOf(text string) string {
	switch {
	case strings.Trim(strings.ToLower(text), "0123456789abcdef-") == "":
		return hexLetters
	case isULID(text):
		return crockfordLetters
	default:
		return lowerLetters
	}
}

// scrambled replaces the letters and digits of a text by others, which depend on the key.
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
	replaceNonASCII(out, block[0])
	return string(out)
}

// nonASCIIRanges are the characters that replace characters outside of ASCII: up to last, some characters from first
// on. The replacements have the same number of bytes in UTF-8, and of digits in decimal and hexadecimal, as those that
// they replace.
var nonASCIIRanges = []struct{ last, first, some rune }{
	{0xff, 'à', 16},      // Latin
	{999, 'α', 16},       // Greek
	{0x7ff, 'а', 32},     // Cyrillic
	{0xfff, 'अ', 32},     // Devanagari
	{9999, 'ሀ', 64},      // Ethiopic
	{0xffff, '一', 128},   // Chinese
	{99_999, '𐐨', 32},    // Deseret
	{0x10ffff, '🐀', 128}, // animals
}

// replaceNonASCII replaces the characters outside of ASCII.
func replaceNonASCII(text []byte, salt byte) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r >= utf8.RuneSelf && n > 1 {
			k := slices.IndexFunc(nonASCIIRanges, func(b struct{ last, first, some rune }) bool { return r <= b.last })
			sum := sha256.Sum256(append([]byte{salt, byte(i >> 8), byte(i)}, text[i:i+n]...))
			utf8.EncodeRune(text[i:], nonASCIIRanges[k].first+rune(sum[0])%nonASCIIRanges[k].some)
		}
		i += n
	}
}

// prefixOf returns the prefix of an id, such as "sk_live_": one or two words of lower-case letters. The rest must be
// long and have digits, because otherwise the words may be the secret.
func prefixOf(secret string) string {
	lead := 0
	for range 2 {
		n := strings.IndexAny(secret[lead:], "_-")
		if n < 2 || n > 12 || strings.Trim(secret[lead:lead+n], lowerLetters) != "" {
			break
		}
		lead += n + 1
	}
	rest := secret[lead:]
	if digits := len(rest) - len(strings.Map(notDigit, rest)); len(rest) < 12 || digits < 2 || strings.Trim(strings.ToLower(rest), lowerLetters+"0123456789_-") != "" {
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
