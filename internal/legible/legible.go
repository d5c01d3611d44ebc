// Package legible shows texts of others so that everything can be seen and nothing acts: no control character moves a
// cursor, none turns the direction of writing, and no line is a command to a CI server.
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

// Text returns a text in which everything can be seen and nothing acts. What has no shape of its own (control
// characters, line ends, what turns the direction of writing, characters of no width, bytes that are not UTF-8) is
// written as Go writes it in a string: \n, \x1b, \u202e, \xff. What is left is legal in XML, too.
func Text(s string) string {
	if plain(s) {
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

// plain reports whether a text is printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Glyph returns how the first character of a text is shown, and its length in bytes.
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

// NewWriter returns a writer for a terminal or a log. Line ends and tabs pass, colours (ECMA-48 §8.3.117), and a carriage return
// that a write begins or ends with, as one that writes a line over does. Any other control character is written as in Text.
//
// A line that GitHub Actions would take for a command, "::error::" behind blanks or "##[error]" anywhere, is written with
// an escape in it.
func NewWriter(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	w  io.Writer
	mu sync.Mutex
	// inLine is set when something but blanks has been written of the line under way.
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

// next returns how what stands at an index is written, and how many bytes that is for.
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
	if r == utf8.RuneError && n == 1 || unicode.IsGraphic(r) { // the first may be half a character, of which the rest comes
		return p[i : i+n], n
	}
	escaped, _ := Glyph(string(p[i : i+n]))
	return []byte(escaped), n
}

// colour returns the length of the sequence that a text begins with, when all it does is to choose a colour.
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
