package redact

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A secret can also be an id, such as a session's, in a cookie and in a body. Its replacement must look like an id of
// the same kind. Otherwise two equal servers would seem to generate their ids in different ways. So every prefix has
// one alias, the same for all secrets. An alias also keeps what identifies the shape of an id: its alphabet and its
// version. A time at the beginning of an id is replaced by another time, the same for all ids.

// alias returns the replacement of a secret. It has the same length: a letter replaces a letter of the same case, and a
// digit replaces a digit. A character that is not ASCII becomes another one that takes as many bytes. All other
// characters are kept, so that a text with escapes stays valid, unless there is little else. The alias depends only on
// the secret, through SHA-256.
//
// public are values that are no secrets: those of ${{ unique }}. They are kept, and nothing else depends on them. So the
// secrets of two targets that differ only in them have aliases that differ only in them.
func alias(secret string, public ...string) string {
	for _, value := range public {
		if parts := strings.Split(secret, value); len(parts) > 1 {
			return withPublic(alias(strings.Join(parts, placeholder), public...), parts, value)
		}
		for _, encoding := range base64Encodings {
			if text, err := encoding.DecodeString(secret); err == nil && strings.Contains(string(text), value) {
				return encoding.EncodeToString([]byte(alias(string(text), public...)))
			}
		}
	}
	made := ""
	for key, tries := secret, 0; tries < 8 && (made == "" || made == secret); tries++ { // a short secret can be its own alias
		made = aliasBy(key, secret, public)
		key += "\x00"
	}
	return made
}

// placeholder stands for a public value while an alias is made. It has letters and digits, as the values have.
const placeholder = "u0lockstep00"

// withPublic puts a value where an alias has the placeholder. parts are what the secret has around the value.
func withPublic(made string, parts []string, value string) string {
	at := 0
	for i, part := range parts {
		parts[i] = made[at : at+len(part)]
		at += len(part) + len(placeholder)
	}
	return strings.Join(parts, value)
}

var base64Encodings = []*base64.Encoding{
	base64.StdEncoding.Strict(), base64.RawStdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict(),
}

// aliasBy returns the alias of a secret for a key. alias derives further keys from the secret when the first one does
// not change it.
func aliasBy(key, secret string, public []string) string {
	if made, ok := jwtAlias(secret, public); ok {
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
	if guessable(strings.ReplaceAll(secret, placeholder, "")) {
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

// idShapes are the ids that are recognised by more than length and alphabet, and what an alias keeps of each.
var idShapes = []struct {
	is   func(string) bool
	keep func(alias []byte, secret string)
}{
	{isULID, func(alias []byte, _ string) { alias[0] = '0' + (alias[0]-'0')%8 }},
	{isKSUID, func(alias []byte, _ string) { copy(alias, ksuid2024) }},
	{isObjectID, func(alias []byte, _ string) { copy(alias, object2024) }},
	{isCompact, func(alias []byte, secret string) {
		alias[version], alias[variant] = secret[version], secret[variant]
		if secret[version] == '7' {
			copy(alias, millis2024)
		}
	}},
}

// Ids of these shapes begin with a time from these years. Their replacements begin with a time in 2024.
const (
	ksuid2017, ksuid2024, ksuid2033    = "0hstmN", "2aGtvA", "507hHM"
	object2017, object2024, object2033 = "58684680", "65a0c1f2", "7680c480"
	millis2024                         = "018d1f2a3b4c"
)

// The positions of the version and the variant in a UUID without dashes.
const (
	version = 12
	variant = 16
)

const (
	digits = "0123456789"
	base62 = digits + lowerLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func consistsOf(s string, n int, chars string) bool {
	return len(s) == n && strings.Trim(s, chars) == ""
}

func inRange(s, from, to string) bool { return s[:len(from)] >= from && s[:len(to)] < to }

func isULID(s string) bool {
	return consistsOf(s, 26, digits+strings.ToUpper(crockfordLetters)) && s[0] <= '7'
}

func isKSUID(s string) bool { return consistsOf(s, 27, base62) && inRange(s, ksuid2017, ksuid2033) }

func isObjectID(s string) bool {
	return consistsOf(s, 24, digits+hexLetters) && inRange(s, object2017, object2033)
}

// isCompact recognises a UUID without dashes of version 4 or 7. Other versions are not used as session ids.
func isCompact(s string) bool {
	return consistsOf(s, 32, digits+hexLetters) && strings.IndexByte("47", s[version]) >= 0 && strings.IndexByte("89ab", s[variant]) >= 0
}

// jwtAlias returns the alias of a JWT (RFC 7519). It keeps the header and the structure of the claims, replaces every
// text by its alias, and changes the signature. So the claims can be compared, above all their times. It is as long as
// the secret.
func jwtAlias(secret string, public []string) (string, bool) {
	parts := strings.Split(secret, ".")
	if len(parts) != 3 || !strings.HasPrefix(secret, "eyJ") {
		return "", false
	}
	if _, ok := objectInBase64(parts[0]); !ok {
		return "", false
	}
	claims, ok := objectInBase64(parts[1])
	if !ok {
		return "", false
	}
	return parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(aliasedTexts(claims, public))) + "." + scrambled(parts[2], secret, lowerLetters), true
}

// objectInBase64 returns the JSON of an object that is encoded in Base64. It rejects texts with escapes.
func objectInBase64(part string) (string, bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return "", false
	}
	root, defects, err := jsontree.Parse(data)
	text := string(data)
	return text, err == nil && len(defects) == 0 && root.Kind == jsontree.Object && !strings.Contains(text, `\`)
}

// aliasedTexts replaces the texts of a document without escapes, and keeps the names of members.
func aliasedTexts(doc string, public []string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(doc, `"`)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text, behind, _ := strings.Cut(rest, `"`)
		if !strings.HasPrefix(strings.TrimLeft(behind, " \t\r\n"), ":") {
			text = alias(text, public...)
		}
		out.WriteString(`"` + text + `"`)
		doc = behind
	}
}
