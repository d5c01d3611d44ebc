// Package excerpt shortens texts of clients before a message quotes them (decision S43).
package excerpt

import "unicode/utf8"

const (
	maxQuoted  = 100
	maxMessage = 16 << 10
)

// Quoted returns a text of a client as a message may quote it.
func Quoted(text string) string { return cut(text, maxQuoted) }

// Message shortens a whole message to the maximum length.
func Message(text string) string { return cut(text, maxMessage) }

// Characters shortens a text to at most the given number of characters. The last three are dots if it was cut.
func Characters(text string, most int) string {
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most-3]) + "..."
	}
	return text
}

// cut shortens a text to the code points that fit completely into the given number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}
