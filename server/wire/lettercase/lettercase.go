// Package lettercase converts texts to lower and upper case by the full mappings of Unicode (§3.13, decision G34).
// One letter may become several, and a Σ at the end of a word becomes ς. Package strings maps each letter separately.
package lettercase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Lower returns a text in lower case.
func Lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s) // a Caser has state, so each call needs its own
}

// Upper returns a text in upper case.
func Upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// Capitalize returns a text in lower case, with its first letter in upper case.
func Capitalize(s string) string {
	s = Lower(s)
	_, size := utf8.DecodeRuneInString(s)
	return Upper(s[:size]) + s[size:]
}

// Title returns a text in lower case, with the first letter of each word in upper case.
func Title(s string) string {
	s = Lower(s)
	var b strings.Builder
	inWord := false
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		letter, wasInWord := s[:size], inWord
		inWord = unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
		if inWord && !wasInWord {
			letter = Upper(letter)
		}
		b.WriteString(letter)
		s = s[size:]
	}
	return b.String()
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
