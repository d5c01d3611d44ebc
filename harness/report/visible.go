package report

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/lockstep-dev/lockstep/internal/legible"
)

// visible returns a text in which everything can be seen and nothing acts.
func visible(s string) string { return legible.Text(s) }

// plain reports whether a text is printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// head shows the beginning of a text in at most so many columns, and returns how many bytes were left out.
func head(s string, columns int) (shown string, left int) {
	if len(s) <= columns && plain(s) {
		return s, 0
	}
	var b strings.Builder
	rest := s
	for rest != "" {
		shape, n := legible.Glyph(rest)
		if columns -= cells(shape); columns < 0 {
			break
		}
		b.WriteString(shape)
		rest = rest[n:]
	}
	return b.String(), len(rest)
}

// cells counts the columns of one character. Those without a width count too: a megabyte of accents is long.
func cells(shape string) int { return max(1, columns(shape)) }

// columns counts the columns that a visible text takes.
func columns(s string) int {
	if plain(s) {
		return len(s)
	}
	return displaywidth.String(s)
}

// clip shows a text in about so many columns, and says what it left out.
func clip(s string, columns int) string {
	shown, left := head(s, columns)
	return shown + leftOut(left)
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return "… [" + count(n, "byte") + " cut]"
}

// count says how many there are of something whose plural takes an s.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// pad fills a visible text with blanks.
func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-columns(s))) }
