package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/internal/legible"
)

// Limits of what is shown of a value.
const (
	maxColumns    = 140 // columns of a line, unless the terminal has fewer
	minColumns    = 24
	noteColumns   = 36 // columns that a terminal keeps for notes about what is cut, on both sides
	columnsBefore = 40 // of these, columns before the first difference
	linesAbove    = 2  // lines before the one that differs
	linesBelow    = 3
)

// values writes two values below each other, cut around the first place where they differ. With mark, it points at that
// place.
func (p *page) values(labels, values [2]string, mark bool) {
	a, b := diff.ParseExcerpt(values[0]), diff.ParseExcerpt(values[1])
	if a.CutBefore != b.CutBefore { // a server's text that only looks like an excerpt
		a, b = diff.Excerpt{Text: values[0]}, diff.Excerpt{Text: values[1]}
	}
	v := valuePair{
		page: p, labels: labels, sides: [2]diff.Excerpt{a, b}, texts: [2]string{a.Text, b.Text}, at: firstDifference(a.Text, b.Text),
		mark: mark && a.Text != b.Text && a.Text != diff.Absent && b.Text != diff.Absent,
	}
	if isMultiline(a.Text) || isMultiline(b.Text) {
		v.multiline()
	} else {
		v.singleLine()
	}
}

// A valuePair is written on a page as two values below each other.
type valuePair struct {
	page   *page
	labels [2]string
	sides  [2]diff.Excerpt
	texts  [2]string // of the sides
	at     int       // the offset of the first character that differs
	mark   bool      // point at that character
}

// valueColumns returns how many columns of a value are shown behind others.
func (o Options) valueColumns(behind int) int {
	if o.Width == 0 {
		return maxColumns
	}
	return min(maxColumns, max(minColumns, o.Width-behind-noteColumns))
}

// firstDifference returns the offset of the first character that differs in two texts. For equal texts, it is their
// length.
func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	for range utf8.UTFMax - 1 { // both texts are equal before this place, so both characters begin at the same offset
		if i == 0 || i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i]) {
			i = max(0, i-1)
		}
	}
	return i
}

// singleLine writes two values of one line each. Colour marks the words that only one of them has.
func (v *valuePair) singleLine() {
	width := max(textfit.Columns(v.labels[0]), textfit.Columns(v.labels[1]))
	if w := v.page.opts.Width; w > 0 && 6+width+2+minColumns+noteColumns > w { // leave out the targets' names
		v.labels[0], _, _ = strings.Cut(v.labels[0], " (")
		v.labels[1], _, _ = strings.Cut(v.labels[1], " (")
		width = max(textfit.Columns(v.labels[0]), textfit.Columns(v.labels[1]))
	}
	columns := v.page.opts.valueColumns(6 + width + 2)
	if room := v.page.opts.Width - 6 - width - 2; v.fits(room) { // notes need no room
		columns = room
	}
	from := showFrom(v.texts, v.at, columns)
	var shown [2]string
	for i := range v.sides {
		_, left := textfit.Fit(v.texts[i][from:], columns)
		shown[i] = v.texts[i][from : len(v.texts[i])-left]
	}
	words := [2][]textfit.Part{{{Text: shown[0], Same: true}}, {{Text: shown[1], Same: true}}}
	if v.mark {
		words[0], words[1] = textfit.Words(shown[0], shown[1])
	}
	paint := [2]func(string) string{v.page.red, v.page.green}
	for i, label := range v.labels {
		var text strings.Builder
		for _, word := range words[i] {
			if word.Same {
				text.WriteString(textfit.Visible(word.Text))
			} else {
				text.WriteString(paint[i](textfit.Visible(word.Text)))
			}
		}
		if v.sides[i] == (diff.Excerpt{}) {
			text.WriteString("(empty)")
		}
		left := len(v.texts[i]) - from - len(shown[i])
		v.page.line(6, v.page.dim(textfit.Pad(label, width)), "  ", cutBeforeNote(from+v.sides[i].CutBefore), text.String(), textfit.CutNote(left+v.sides[i].CutAfter))
	}
	if v.mark {
		start := width + 2 + textfit.Columns(cutBeforeNote(from+v.sides[1].CutBefore))
		v.caret(start, textfit.Columns(textfit.Visible(v.texts[0][from:v.at])), words[1])
	}
}

// fits reports whether both values are shown whole in that many columns.
func (v *valuePair) fits(columns int) bool {
	for i, side := range v.sides {
		if _, left := textfit.Fit(v.texts[i], min(columns, maxColumns)); side.CutBefore > 0 || side.CutAfter > 0 || left > 0 {
			return false
		}
	}
	return true
}

func cutBeforeNote(n int) string {
	if n == 0 {
		return ""
	}
	return "[" + textfit.Count(n, "byte") + " cut] …"
}

// showFrom returns the offset from which two values are shown, so that the place where they differ is visible. Equal
// values are shown from their beginning.
func showFrom(values [2]string, at, columns int) int {
	_, left := textfit.Fit(values[0][:at], columns-columnsBefore)
	_, leftA := textfit.Fit(values[0], columns)
	_, leftB := textfit.Fit(values[1], columns)
	if left == 0 || leftA+leftB == 0 || values[0] == values[1] {
		return 0
	}
	from, room := at, min(columnsBefore, columns/2)
	for from > 0 {
		_, size := utf8.DecodeLastRuneInString(values[0][:from])
		shape, _ := legible.Glyph(values[0][from-size:])
		if room -= textfit.GlyphColumns(shape); room < 0 {
			break
		}
		from -= size
	}
	return from
}

// caret points at the first difference of two single-line values when it is hard to see, and at the words after it that
// only the second value has. The values begin at a column, and the first difference is at a column of theirs.
func (v *valuePair) caret(start, at int, words []textfit.Part) {
	const hard = 16 // number of equal bytes before it
	note := describeDifference(v.texts, v.at)
	if v.at < hard && note == "" {
		return
	}
	marks := "^"
	column := 0
	for _, word := range words {
		columns := textfit.Columns(textfit.Visible(word.Text))
		if !word.Same && column > at {
			marks += strings.Repeat(" ", column-at-len(marks)) + strings.Repeat("^", columns)
		}
		column += columns
	}
	v.page.line(6, strings.Repeat(" ", start+at), v.page.red(marks), note)
}

// describeDifference names two characters that a reader could confuse or not see. It returns "" when the difference is
// easy to see.
func describeDifference(values [2]string, at int) string {
	a, oddA := characterName(values[0][at:])
	b, oddB := characterName(values[1][at:])
	if !oddA && !oddB || a == b {
		return ""
	}
	return " reference: " + a + ", candidate: " + b
}

// characterName names the first character of a text, and reports whether a reader needs the name.
func characterName(s string) (string, bool) {
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

// isMultiline reports whether a value has several lines. A final line end does not count.
func isMultiline(s string) bool {
	i := strings.IndexByte(s, '\n')
	return i >= 0 && i < len(s)-1
}

// multiline writes two values of several lines, which differ in at least one line.
func (v *valuePair) multiline() {
	line := strings.LastIndexByte(v.texts[0][:v.at], '\n') + 1 // start of the differing line, the same in both
	first := line
	for range linesAbove {
		if first > 0 {
			first = strings.LastIndexByte(v.texts[0][:first-1], '\n') + 1
		}
	}
	rests := [2]string{firstLine(v.texts[0][line:]), firstLine(v.texts[1][line:])}
	from := showFrom(rests, min(v.at-line, len(rests[0])), v.page.opts.valueColumns(10))
	for i := range v.sides {
		v.excerpt(i, first, line, from)
	}
	if note := describeDifference(v.texts, v.at); v.mark && note != "" {
		v.page.line(6, "the first characters that differ:", note)
	}
}

func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i]
	}
	return s
}

// excerpt writes the lines of a side around the one that differs. That line is shown from an offset on.
func (v *valuePair) excerpt(i, first, differs, from int) {
	p, label, side, value := v.page, v.labels[i], v.sides[i], v.texts[i]
	if value == "" || value == diff.Absent {
		p.line(6, p.dim(label), "  ", value)
		return
	}
	total := strings.Count(strings.TrimSuffix(value, "\n"), "\n") + 1
	above := strings.Count(value[:first], "\n") + 1
	which := fmt.Sprintf("  lines %d–%d of %d", above, min(total, above+linesAbove+linesBelow), total)
	if side.CutBefore+side.CutAfter > 0 {
		which = "  some lines of " + textfit.Count(side.CutBefore+len(value)+side.CutAfter, "byte")
	}
	p.line(6, p.dim(label), p.dim(which))
	for shown := 0; shown <= linesAbove+linesBelow && first < len(value); shown++ {
		line := firstLine(value[first:])
		text := textfit.Clip(line, p.opts.valueColumns(10))
		gutter := p.dim("| ")
		if first == differs {
			text = cutBeforeNote(from) + textfit.Clip(line[from:], p.opts.valueColumns(10))
			if v.mark {
				gutter = p.red("> ")
			}
		}
		p.line(8, gutter, text)
		first += len(line) + 1
	}
}
