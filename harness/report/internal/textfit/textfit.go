// Package textfit fits texts into columns of a terminal.
//
// Everything that a server said is hostile in a report. What these functions return can be seen, and no byte of it acts on a
// terminal or reorders the text around it.
package textfit

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/lockstep-dev/lockstep/internal/legible"
)

// Visible returns a text in which everything can be seen and nothing acts.
func Visible(s string) string { return legible.Text(s) }

// isPrintableASCII reports whether a text is printable ASCII.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Fit shows the beginning of a text in at most so many columns, and returns how many bytes were left out.
func Fit(s string, columns int) (shown string, left int) {
	if len(s) <= columns && isPrintableASCII(s) {
		return s, 0
	}
	var b strings.Builder
	rest := s
	for rest != "" {
		shape, n := legible.Glyph(rest)
		if columns -= GlyphColumns(shape); columns < 0 {
			break
		}
		b.WriteString(shape)
		rest = rest[n:]
	}
	return b.String(), len(rest)
}

// GlyphColumns counts the columns of one character. Those without a width count too: a megabyte of accents is long.
func GlyphColumns(shape string) int { return max(1, Columns(shape)) }

// Columns counts the columns that a visible text takes.
func Columns(s string) int {
	if isPrintableASCII(s) {
		return len(s)
	}
	return displaywidth.String(s)
}

// Clip shows a text in about so many columns, and says what it left out.
func Clip(s string, columns int) string {
	shown, left := Fit(s, columns)
	return shown + CutNote(left)
}

func CutNote(n int) string {
	if n == 0 {
		return ""
	}
	return "… [" + Count(n, "byte") + " cut]"
}

// Count says how many there are of something whose plural takes an s.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Pad fills a visible text with blanks.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Columns(s))) }

// List joins items as far as a line goes, and counts the others.
func List(items []string, separator string) string {
	const room = 140
	var b strings.Builder
	for i, item := range items {
		switch {
		case i == 0:
		case b.Len()+len(item) > room:
			return b.String() + separator + "and " + strconv.Itoa(len(items)-i) + " more"
		default:
			b.WriteString(separator)
		}
		b.WriteString(item)
	}
	return b.String()
}

// JoinAnd joins names as a sentence does: "a, b and c".
func JoinAnd(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// FileLine is a place in a file, as terminals and editors make a link of it.
func FileLine(file string, line int) string {
	if line <= 0 {
		return Clip(file, 200)
	}
	return Clip(file, 200) + ":" + strconv.Itoa(line)
}

// ClipAll clips each of some texts.
func ClipAll(texts []string, columns int) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Clip(text, columns)
	}
	return out
}

// ClipLines cuts a text that is shown with its line ends.
func ClipLines(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + CutNote(len(s)-most)
}

// VisibleLines returns a text of several lines in which everything can be seen, see visible. It keeps line ends.
func VisibleLines(s string) string {
	if !strings.Contains(s, "\n") {
		return Visible(s)
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Visible(line)
	}
	return strings.Join(lines, "\n")
}

func Seconds(millis int64) string {
	return strconv.FormatFloat(float64(millis)/1000, 'f', 1, 64) + " s"
}
