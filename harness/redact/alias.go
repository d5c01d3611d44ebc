package redact

import (
	"crypto/sha256"
	"strings"
)

// A secret can be an id as well: a session's, in a cookie and in a body. What stands in its place must be taken for an id of
// the same kind, or two servers that are alike would be told to make their ids differently. So a prefix has an alias of
// its own, the same before every secret, and what an id of a known shape is recognised by is in its alias, too: its
// alphabet, a version, and in the place of the time that it begins with another one, the same for all.

// alias returns the text that stands for a secret: as long, a letter of the same case for a letter, a digit for a digit,
// and any other character for itself, but for the shapes above. It depends on the secret alone, through SHA-256.
func alias(secret string) string {
	if made, ok := jwtAlias(secret); ok {
		return made
	}
	lead := leadOf(secret)
	var out strings.Builder
	for word := range strings.SplitAfterSeq(lead, "_") {
		out.WriteString(scrambled(word, word, lowers))
	}
	rest := secret[len(lead):]
	made := []byte(scrambled(rest, secret, lettersOf(rest)))
	for _, shape := range shapes {
		if shape.is(rest) {
			shape.keep(made, rest)
			break
		}
	}
	out.Write(made)
	return out.String()
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
	return string(out)
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
