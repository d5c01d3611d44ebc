// Package textfit fits texts into the columns of a terminal.
//
// Everything that a server sent is treated as hostile in a report. The texts that these functions return have invisible
// characters escaped. No byte controls a terminal or reorders the text around it.
package textfit

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/lockstep-dev/lockstep/internal/legible"
)

// Visible returns a text with invisible and control characters escaped.
func Visible(s string) string { return legible.Text(s) }

// Fit shows the beginning of a text in at most this many columns, and returns how many bytes were left out.
func Fit(s string, columns int) (shown string, left int) {
	if len(s) <= columns && legible.Plain(s) {
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

// GlyphColumns counts the columns of one character. Characters without a width count as one, because a megabyte of
// accents is long.
func GlyphColumns(shape string) int { return max(1, Columns(shape)) }

// Columns counts the columns of a text without invisible characters.
func Columns(s string) int {
	if legible.Plain(s) {
		return len(s)
	}
	return displaywidth.String(s)
}

// Clip shows a text in about this many columns, and says how much it left out.
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

// Count returns a number with its noun. The plural of the noun must take an s.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Pad adds spaces to a text without invisible characters.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Columns(s))) }

// List joins items until the line is full, and counts the others.
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

// JoinAnd joins names as in a sentence: "a, b and c".
func JoinAnd(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// FileLine returns a place in a file in the form that terminals and editors turn into a link.
func FileLine(file string, line int) string {
	if line <= 0 {
		return Clip(file, 200)
	}
	return Clip(file, 200) + ":" + strconv.Itoa(line)
}

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

// VisibleLines is Visible for a text of several lines. It keeps line ends.
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
