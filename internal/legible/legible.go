// Package legible makes foreign text visible and harmless for a terminal or a log. No control character can move the
// cursor or change the direction of writing, and no line is a command to a CI server.
package legible

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text returns a text in which every character is visible and harmless. It escapes characters without a shape as Go
// does in strings (\n, \x1b, \u202e, \xff): control characters, line ends, changes of the writing direction,
// zero-width characters, and invalid UTF-8. The result is also legal in XML.
func Text(s string) string {
	if Plain(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		shape, n := Glyph(s)
		b.WriteString(shape)
		s = s[n:]
	}
	return b.String()
}

// Plain reports whether a text is printable ASCII.
func Plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Glyph returns the visible form of the first character of a text, and its length in bytes.
func Glyph(s string) (shape string, n int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n <= 1:
		return fmt.Sprintf(`\x%02x`, s[0]), 1
	case unicode.IsGraphic(r):
		return s[:n], n
	default:
		quoted := strconv.QuoteRune(r)
		return quoted[1 : len(quoted)-1], n
	}
}

// NewWriter returns a writer for a terminal or a log. It passes line ends, tabs and colours (ECMA-48 §8.3.117). It also
// passes a carriage return at the start or end of a write, which a program uses to overwrite a line. It escapes all other
// control characters as Text does.
//
// It also escapes what GitHub Actions would read as a command: "::error::" after blanks, or "##[error]" anywhere.
func NewWriter(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	w  io.Writer
	mu sync.Mutex
	// inLine is true if the current line has a character that is not blank.
	inLine bool
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); {
		shape, n := w.next(p, i)
		out = append(out, shape...)
		i += n
	}
	if _, err := w.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// next returns what to write for the bytes at an index, and how many of them that covers.
func (w *writer) next(p []byte, i int) (shape []byte, n int) {
	switch c := p[i]; {
	case c == '\n':
		w.inLine = false
		return p[i : i+1], 1
	case c == ' ' || c == '\t' || c == '\r' && (i == 0 || i == len(p)-1):
		return p[i : i+1], 1
	case c == '\x1b':
		if n := colour(p[i:]); n > 0 {
			return p[i : i+n], n
		}
	case c == ':' && !w.inLine && (i == len(p)-1 || p[i+1] == ':'), c == '#' && bytes.HasPrefix(p[i:], []byte("##[")):
		w.inLine = true
		return fmt.Appendf(nil, `\x%02x`, c), 1
	}
	w.inLine = true
	r, n := utf8.DecodeRune(p[i:])
	if r == utf8.RuneError && n == 1 || unicode.IsGraphic(r) { // RuneError may be half a character
		return p[i : i+n], n
	}
	escaped, _ := Glyph(string(p[i : i+n]))
	return []byte(escaped), n
}

// colour returns the length of a colour sequence at the start of a text, or 0 if there is none.
func colour(p []byte) int {
	for i := 1; i < len(p); i++ {
		switch c := p[i]; {
		case i == 1 && c == '[', i > 1 && (c >= '0' && c <= '9' || c == ';'):
		case i > 1 && c == 'm':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}
