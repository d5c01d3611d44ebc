package jsontree

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON can write half of a surrogate pair: "\ud83d". "The ABNF in this specification allows member names and string
// values to contain bit sequences that cannot encode Unicode characters; for example, "\uDEAD"" (RFC 8259 §8.2). A
// program with UTF-16 strings writes it when it cuts a string inside a character; one with UTF-8 strings writes
// U+FFFD instead. Clients see two different texts, so they must not be read as the same one. The text of a Node
// therefore keeps a half as the three bytes that UTF-8 would use for it (WTF-8). These bytes are not valid UTF-8, so
// they stand for nothing else.

const (
	halfSize   = 3
	escapeSize = len(`\ud83d`)
)

// half returns the half of a surrogate pair at the start of a text, or 0 if there is none.
func half(s string) rune {
	if len(s) < halfSize || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return 0
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

func appendHalf(b []byte, r rune) []byte {
	return append(b, 0xed, 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
}

// unquote decodes a JSON string as the decoder does, except that it keeps halves of surrogate pairs.
func unquote(quoted string) string {
	var b []byte
	rest := strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`)
	for {
		at, r := findHalf(rest)
		part := rest
		if at >= 0 {
			part = rest[:at]
		}
		b, _ = jsontext.AppendUnquote(b, `"`+part+`"`) // invalid UTF-8 becomes U+FFFD
		if at < 0 {
			return string(b)
		}
		b, rest = appendHalf(b, r), rest[at+escapeSize:]
	}
}

// findHalf returns the place of the first escape for a lone half of a pair, or -1 if there is none.
func findHalf(text string) (at int, r rune) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first := unit(text[i:])
		if !utf16.IsSurrogate(first) {
			i++
			continue
		}
		if utf16.DecodeRune(first, unit(text[i+escapeSize:])) == utf8.RuneError {
			return i, first
		}
		i += 2*escapeSize - 1
	}
	return -1, 0
}

// unit returns the number of the escape \uXXXX at the start of a text, or 0 if there is none.
func unit(text string) rune {
	if len(text) < escapeSize || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(text[2:escapeSize], 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// quoteHalves quotes a text that has halves of surrogate pairs. Other invalid UTF-8 becomes U+FFFD.
func quoteHalves(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	part := func(to int) {
		start := len(b)
		b, _ = jsontext.AppendQuote(b, s[from:to])
		b = append(b[:start], b[start+1:len(b)-1]...)
	}
	for i := range len(s) {
		if r := half(s[i:]); r != 0 {
			part(i)
			b = append(append(b, `\u`...), strconv.FormatInt(int64(r), 16)...)
			from = i + halfSize
		}
	}
	part(len(s))
	return append(b, '"')
}

// Join concatenates texts of nodes. It joins the two halves of a surrogate pair that was cut.
func Join(texts ...string) string {
	s := strings.Join(texts, "")
	if utf8.ValidString(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if first := half(s[i:]); first != 0 {
			if r := utf16.DecodeRune(first, half(s[i+halfSize:])); r != utf8.RuneError {
				b = utf8.AppendRune(b, r)
				i += 2*halfSize - 1
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// Length returns the number of characters in the text of a node. A lone half of a surrogate pair counts as one (JSON
// Schema Validation §6.3).
func Length(text string) int {
	n := utf8.RuneCountInString(text)
	if utf8.ValidString(text) {
		return n
	}
	for i := range len(text) {
		if half(text[i:]) != 0 {
			n -= halfSize - 1
		}
	}
	return n
}
