// Package excerpt keeps what clients send from making messages about it long (decision S43).
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
