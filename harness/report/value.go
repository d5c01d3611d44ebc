package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/legible"
)

// How much of a value is shown.
const (
	wide       = 140 // columns of a line
	lead       = 40  // of these, before the first difference
	linesAbove = 2   // the one that differs
	linesBelow = 3
)

// absent is how the model writes that a side has no value.
const absent = "—"

// A kept value is what the model has of a value, which can be cut at both ends.
type kept struct {
	text           string
	before, behind int // bytes that are missing
}

// What the model writes where it has cut.
var (
	cutBefore = regexp.MustCompile(`^\[([0-9]{1,15}) bytes cut\] …`)
	cutBehind = regexp.MustCompile(`… \[([0-9]{1,15}) bytes cut\]$`)
)

func keptOf(value string) kept {
	k := kept{text: value}
	const longest = len("… [123456789012345 bytes cut]")
	if m := cutBefore.FindStringSubmatch(k.text); m != nil {
		k.text, k.before = k.text[len(m[0]):], number(m[1])
	}
	if m := cutBehind.FindStringSubmatch(k.text[max(0, len(k.text)-longest):]); m != nil {
		k.text, k.behind = k.text[:len(k.text)-len(m[0])], number(m[1])
	}
	return k
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // it is one, and short
	return n
}

// values writes two values under each other, cut around the first place where they differ. With mark that place is
// pointed at.
func (p *page) values(labels, values [2]string, mark bool) {
	a, b := keptOf(values[0]), keptOf(values[1])
	if a.before != b.before { // a server's text that only looks like it
		a, b = kept{text: values[0]}, kept{text: values[1]}
	}
	at := part(a.text, b.text)
	mark = mark && a.text != b.text && a.text != absent && b.text != absent
	if manyLines(a.text) || manyLines(b.text) {
		p.blocks(labels, [2]kept{a, b}, at, mark)
	} else {
		p.lines(labels, [2]kept{a, b}, at, mark)
	}
}

// part returns the offset of the first character in which two texts differ; the length when they are equal.
func part(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	for range utf8.UTFMax - 1 { // both are the same up to here, so both characters begin at the same place
		if i == 0 || i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i]) {
			i = max(0, i-1)
		}
	}
	return i
}

// lines writes two values of one line each.
func (p *page) lines(labels [2]string, values [2]kept, at int, mark bool) {
	texts := [2]string{values[0].text, values[1].text}
	from := window(texts, at)
	width := max(columns(labels[0]), columns(labels[1]))
	for i, label := range labels {
		p.line(6, p.dim(pad(label, width)), "  ", values[i].show(from))
	}
	if mark {
		p.caret(texts, at, width+2+columns(skipped(from+values[0].before)+visible(texts[0][from:at])))
	}
}

// show shows a value from an offset on.
func (k kept) show(from int) string {
	if k.text == "" && k.before+k.behind == 0 {
		return "(empty)"
	}
	shown, left := head(k.text[from:], wide)
	return skipped(from+k.before) + shown + leftOut(left+k.behind)
}

func skipped(n int) string {
	if n == 0 {
		return ""
	}
	return "[" + count(n, "byte") + " cut] …"
}

// window returns the offset to show two values from, so that the place where they differ is in sight. Values that are
// equal are shown from their beginning.
func window(values [2]string, at int) int {
	_, left := head(values[0][:at], wide-lead)
	_, leftA := head(values[0], wide)
	_, leftB := head(values[1], wide)
	if left == 0 || leftA+leftB == 0 || values[0] == values[1] {
		return 0
	}
	from, room := at, lead
	for from > 0 {
		_, size := utf8.DecodeLastRuneInString(values[0][:from])
		shape, _ := legible.Glyph(values[0][from-size:])
		if room -= cells(shape); room < 0 {
			break
		}
		from -= size
	}
	return from
}

// caret points at the first difference of two values of one line, when it is hard to see.
func (p *page) caret(values [2]string, at, column int) {
	const hard = 16 // bytes that are the same
	if note := tell(values, at); at >= hard || note != "" {
		p.line(6, strings.Repeat(" ", column), p.red("^"), note)
	}
}

// tell tells two characters apart that a reader could take for the same, or not see at all; "" when that is easy.
func tell(values [2]string, at int) string {
	a, oddA := name(values[0][at:])
	b, oddB := name(values[1][at:])
	if !oddA && !oddB || a == b {
		return ""
	}
	return " reference: " + a + ", candidate: " + b
}

// name names the first character of a text, and reports whether it is one that has to be named to be seen.
func name(s string) (string, bool) {
	if s == "" {
		return "the end", false
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		return fmt.Sprintf("the byte 0x%02X", s[0]), true
	case r > ' ' && r <= '~':
		return string(r), false
	case unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.M, r):
		return fmt.Sprintf("%c (U+%04X)", r, r), true
	default:
		return fmt.Sprintf("U+%04X", r), true
	}
}

// manyLines reports whether a value is to be read line by line. A line end at the very end does not make it so.
func manyLines(s string) bool {
	i := strings.IndexByte(s, '\n')
	return i >= 0 && i < len(s)-1
}

// blocks writes two values of several lines each, the first a line of which differs.
func (p *page) blocks(labels [2]string, sides [2]kept, at int, mark bool) {
	values := [2]string{sides[0].text, sides[1].text}
	line := strings.LastIndexByte(values[0][:at], '\n') + 1 // of the difference; the same in both
	first := line
	for range linesAbove {
		if first > 0 {
			first = strings.LastIndexByte(values[0][:first-1], '\n') + 1
		}
	}
	rests := [2]string{firstLine(values[0][line:]), firstLine(values[1][line:])}
	from := window(rests, min(at-line, len(rests[0])))
	for i, side := range sides {
		p.excerpt(labels[i], side, first, line, from, mark)
	}
	if note := tell(values, at); mark && note != "" {
		p.line(6, "the first characters that differ:", note)
	}
}

func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i]
	}
	return s
}

// excerpt writes the lines of a value around the one that differs, which is shown from an offset on.
func (p *page) excerpt(label string, side kept, first, differs, from int, mark bool) {
	value := side.text
	if value == "" || value == absent {
		p.line(6, p.dim(label), "  ", value)
		return
	}
	total := strings.Count(strings.TrimSuffix(value, "\n"), "\n") + 1
	above := strings.Count(value[:first], "\n") + 1
	which := fmt.Sprintf("  lines %d–%d of %d", above, min(total, above+linesAbove+linesBelow), total)
	if side.before+side.behind > 0 {
		which = "  some lines of " + count(side.before+len(value)+side.behind, "byte")
	}
	p.line(6, p.dim(label), p.dim(which))
	for shown := 0; shown <= linesAbove+linesBelow && first < len(value); shown++ {
		line := firstLine(value[first:])
		text := clip(line, wide)
		gutter := p.dim("| ")
		if first == differs {
			text = skipped(from) + clip(line[from:], wide)
			if mark {
				gutter = p.red("> ")
			}
		}
		p.line(8, gutter, text)
		first += len(line) + 1
	}
}
