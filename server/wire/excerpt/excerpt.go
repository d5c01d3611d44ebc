// Package excerpt shortens what clients send before it is quoted in a message (decision S43).
package excerpt

import "unicode/utf8"

const (
	maxQuoted  = 100
	maxMessage = 16 << 10
)

// Quoted returns what a message says of a text that a client sent.
func Quoted(text string) string { return cut(text, maxQuoted) }

// Message returns a whole message, which has become no longer than it may be.
func Message(text string) string { return cut(text, maxMessage) }

// Characters returns at most so many characters of a text; the last three are dots if it is cut.
func Characters(text string, most int) string {
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most-3]) + "..."
	}
	return text
}

// cut cuts a text to the whole code points in its first bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}
