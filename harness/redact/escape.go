package redact

import (
	"bytes"
	"fmt"
	"html"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A decoded text is a text without its escapes. It records where each escape was, so that a change can be written back
// in the same notation and with the same number of bytes.
type decoded struct {
	text    []byte
	escapes []escape
	kinds   string // the characters with which the escapes begin
}

// An escape is a character, or a byte, that is written in another form.
type escape struct {
	from, to int32 // in the text with escapes
	at, n    int32 // in the decoded text
}

// Marks are the characters with which escapes begin: those of JSON, JavaScript, Go and YAML, of URLs, of forms, and of
// HTML.
const (
	allMarks             = `\%&`
	webMarks             = `%&`
	formMarks            = `%&+`
	ignoredMarks         = "\x00\r\n\\"
	quotedPrintableMarks = "="
)

// unescape decodes the escapes of a text that begin with some marks. It returns nil for a text without escapes.
//
// It decodes them everywhere, because a text does not say in which notation it is written. Text that only looks like an
// escape, such as the \n of C:\new, has been searched in its original form before.
func unescape(text []byte, marks string) *decoded {
	var out *decoded
	var buffer [utf8.UTFMax]byte
	copied := 0
	ahead := markFinder{text: text, marks: marks}
	for i := ahead.next(0); i < len(text); i = ahead.next(i) {
		char, width := readMark(text, i, marks, buffer[:0])
		if width == 0 {
			i++
			continue
		}
		if out == nil {
			out = &decoded{text: make([]byte, 0, len(text))}
		}
		out.text = append(out.text, text[copied:i]...)
		out.escapes = append(out.escapes, escape{int32(i), int32(i + width), int32(len(out.text)), int32(len(char))})
		out.text = append(out.text, char...)
		if strings.IndexByte(out.kinds, text[i]) < 0 {
			out.kinds += string(rune(text[i]))
		}
		i += width
		copied = i
	}
	if out != nil {
		out.text = append(out.text, text[copied:]...)
	}
	return out
}

var isMark = [256]bool{'\\': true, '%': true, '&': true, '+': true, '=': true, '\r': true, '\n': true, 0: true}

// A markFinder finds marks in a text, in order. Most bytes are not marks and are never looked at one by one.
type markFinder struct {
	text   []byte
	marks  string
	nextAt [maxMarks]int // the index of the next occurrence of each mark plus one, as far as it is known
}

const maxMarks = 4

// next returns the index of the next mark at or after a place, or the length of the text.
func (m *markFinder) next(from int) int {
	first := len(m.text)
	for i := range len(m.marks) {
		if m.nextAt[i] <= from {
			m.nextAt[i] = len(m.text) + 1
			if n := bytes.IndexByte(m.text[from:], m.marks[i]); n >= 0 {
				m.nextAt[i] = from + n + 1
			}
		}
		first = min(first, m.nextAt[i]-1)
	}
	return first
}

// readEscape decodes the escape at the beginning of a text. It appends the meaning to out, and returns the length of
// the escape, or 0 when there is no escape. A plus sign means a space.
func readEscape(text, out []byte) (char []byte, width int) {
	if text[0] == '+' {
		return append(out, ' '), 1
	}
	if len(text) < 2 {
		return nil, 0
	}
	c := text[1]
	switch {
	case text[0] == '\\' && (c == '%' || c == '&'): // the result can begin another escape
		if _, width := readEscape(text[1:], out); width == 0 {
			return append(out, c), 2
		}
		return nil, 0
	case text[0] == '\\' && !alphanumeric(c) && c < utf8.RuneSelf:
		return append(out, c), 2
	case text[0] == '&' && c != '#':
		return readEntity(text, out)
	}
	for i := range notations {
		if n := &notations[i]; n.before[0] == text[0] && (len(n.before) == 1 || n.before[1] == c) {
			if char, width := n.read(text, out); width > 0 {
				return char, width
			}
		}
	}
	if short := strings.IndexByte(shortEscapes, c); text[0] == '\\' && short >= 0 && short%2 == 0 {
		return append(out, shortEscapes[short+1]), 2
	}
	return nil, 0
}

// shortEscapes are pairs: a letter that follows a backslash, and its meaning. Any other character that is neither a
// letter nor a digit means itself.
const shortEscapes = "n\nr\rt\tb\bf\fv\v0\x00a\ae\x1b"

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// A notation writes a character as its number.
type notation struct {
	before               string
	base                 int
	minDigits, maxDigits int // digits
	after                string
	octet                bool // the number is a byte of UTF-8, not a character
}

var notations = []notation{
	{before: `\`, base: 8, minDigits: 3, maxDigits: 3, octet: true},
	{before: "=", base: 16, minDigits: 2, maxDigits: 2, octet: true},  // quoted-printable (RFC 2045 §6.7)
	{before: `\u{`, base: 16, minDigits: 1, maxDigits: 8, after: "}"}, // before \u, which is its prefix
	{before: `\u`, base: 16, minDigits: 4, maxDigits: 4},
	{before: `\U`, base: 16, minDigits: 8, maxDigits: 8},
	{before: `\x`, base: 16, minDigits: 2, maxDigits: 2, octet: true},
	{before: `%u`, base: 16, minDigits: 4, maxDigits: 4},
	{before: `%`, base: 16, minDigits: 2, maxDigits: 2, octet: true},
	{before: `&#x`, base: 16, minDigits: 1, maxDigits: 8, after: ";"},
	{before: `&#X`, base: 16, minDigits: 1, maxDigits: 8, after: ";"},
	{before: `&#`, base: 10, minDigits: 1, maxDigits: 10, after: ";"},
}

// number reads one number of the notation.
func (n *notation) number(text []byte) (value rune, width int) {
	if !bytes.HasPrefix(text, []byte(n.before)) {
		return 0, 0
	}
	at := len(n.before)
	for ; at < len(text) && at-len(n.before) < n.maxDigits; at++ {
		digit := hexValues[text[at]]
		if int(digit) >= n.base || value > utf8.MaxRune {
			break
		}
		value = value*rune(n.base) + rune(digit)
	}
	if at-len(n.before) < n.minDigits || n.octet && value > 0xff || !bytes.HasPrefix(text[at:], []byte(n.after)) {
		return 0, 0
	}
	return value, at + len(n.after)
}

// hexValues has the values of digits, and noDigit for all other characters.
var hexValues = &byteEncodings[1].value

// read reads a character: one number, or two for a surrogate pair (RFC 8259 §7).
func (n *notation) read(text, out []byte) (char []byte, width int) {
	value, width := n.number(text)
	switch {
	case width == 0:
		return nil, 0
	case n.octet:
		return append(out, byte(value)), width
	case utf16.IsSurrogate(value):
		second, more := n.number(text[width:])
		value, width = utf16.DecodeRune(value, second), width+more
		if value == utf8.RuneError {
			return nil, 0
		}
	case !utf8.ValidRune(value):
		return nil, 0
	}
	return utf8.AppendRune(out, value), width
}

// readEntity reads a character by its name in HTML.
func readEntity(text, out []byte) (char []byte, width int) {
	const longest = len("&CounterClockwiseContourIntegral;")
	end := bytes.IndexByte(text[:min(longest, len(text))], ';')
	if end < 2 || !alphanumeric(text[1]) {
		return nil, 0
	}
	name := string(text[:end+1])
	if name == "&amp;" { // by far the most frequent
		return append(out, '&'), len(name)
	}
	if char := html.UnescapeString(name); char != name && len(char) <= utf8.UTFMax {
		return append(out, char...), len(name)
	}
	return nil, 0
}

// hasEscapeIn reports whether an escape, or the end of one, is in a part of the decoded text. Only such a part differs
// from the text with escapes.
func (d *decoded) hasEscapeIn(from, to int) bool {
	i := sort.Search(len(d.escapes), func(i int) bool { return int(d.escapes[i].at+d.escapes[i].n) >= from })
	return i < len(d.escapes) && int(d.escapes[i].at) <= to
}

// writeBack replaces the decoded text by another text of the same length, in the original notation.
func (d *decoded) writeBack(text, made []byte) {
	to, end := int32(len(text)), int32(len(made))
	for i := len(d.escapes) - 1; i >= 0; i-- {
		e := &d.escapes[i]
		copy(text[e.to:to], made[e.at+e.n:end])
		if char := made[e.at : e.at+e.n]; !bytes.Equal(char, d.text[e.at:e.at+e.n]) {
			writeEscape(text[e.from:e.to], char)
		}
		to, end = e.from, e.at
	}
	copy(text[:to], made[:end])
}

// writeEscape replaces an escape by another character, in the same notation and with the same number of bytes.
func writeEscape(place, char []byte) {
	for i := range notations {
		n := &notations[i]
		if _, width := n.number(place); width > 0 {
			n.write(place, width, char)
			return
		}
	}
	// This is a short escape or an HTML name. An alias keeps such a character, because no other name has the same
	// length. The exception is a name with enough room for a number.
	r, _ := utf8.DecodeRune(char)
	if number := fmt.Sprintf("&#%0*d;", max(0, len(place)-3), r); place[0] == '&' && len(number) == len(place) {
		copy(place, number)
	}
}

func (n *notation) write(place []byte, width int, char []byte) {
	r, size := utf8.DecodeRune(char)
	var numbers []rune
	switch {
	case n.octet:
		numbers = []rune{rune(char[0])}
	case width < len(place): // two numbers
		high, low := utf16.EncodeRune(r)
		numbers = []rune{high, low}
	case size == len(char):
		numbers = []rune{r}
	}
	var out []byte
	for _, number := range numbers {
		digits := strconv.FormatUint(uint64(number), n.base)
		room := width - len(n.before) - len(n.after)
		if len(digits) > room && number >= 'd' && number <= 'z' {
			digits = strconv.FormatUint(uint64(number-'a'+'A'), n.base) // two decimal digits are too few for a small letter
		}
		if bytes.ContainsAny(place[len(n.before):], "ABCDEF") {
			digits = strings.ToUpper(digits)
		}
		out = fmt.Appendf(out, "%s%s%s%s", n.before, strings.Repeat("0", max(0, room-len(digits))), digits, n.after)
	}
	if len(out) == len(place) {
		copy(place, out)
	}
}

// Some characters of a notation mean nothing: every second byte of ASCII in UTF-16, and a line end that only breaks a
// long line.

// readMark calls readIgnored or readEscape, depending on the marks.
func readMark(text []byte, at int, marks string, out []byte) (char []byte, width int) {
	if marks == ignoredMarks || marks == quotedPrintableMarks {
		return readIgnored(text, at, out)
	}
	return readEscape(text[at:], out)
}

// readIgnored reads an ignored character at an index of a text, or an octet of quoted-printable. It returns the length,
// or 0 when there is none.
func readIgnored(text []byte, at int, out []byte) (char []byte, width int) {
	rest := text[at+1:]
	switch text[at] {
	case 0: // one of many; a single one can be any byte of an image
		const around = 5
		if bytes.Count(text[max(0, at-around):min(len(text), at+around+1)], []byte{0}) >= 3 {
			return out, 1
		}
	case '=': // RFC 2045 §6.7
		if n := lineBreak(rest); n > 0 {
			return out, 1 + n
		}
		before, _ := utf8.DecodeLastRune(text[:at])
		behind, _ := utf8.DecodeRune(text[min(at+3, len(text)):])
		if at > 0 && before == utf8.RuneError || at+3 < len(text) && behind == utf8.RuneError {
			return nil, 0 // not a text
		}
		return readEscape(text[at:], out)
	case '\\': // in YAML, shells, C and JavaScript, it continues the line
		if n := lineBreak(rest); n > 0 {
			return out, 1 + n + blanks(rest[n:])
		}
	default: // Base64 in an indented text, such as YAML
		if at == 0 || !isBase64(text[at-1]) {
			return nil, 0
		}
		n := lineBreak(text[at:])
		m := blanks(text[at+n:])
		if n > 0 && m > 0 && at+n+m < len(text) && isBase64(text[at+n+m]) {
			return out, n + m
		}
	}
	return nil, 0
}

// isBase64 reports whether a character is a digit of Base64.
func isBase64(c byte) bool { return byteEncodings[0].value[c] < ignored }

// lineBreak returns the length of the line break at the beginning of a text.
func lineBreak(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")):
		return 2
	case bytes.HasPrefix(text, []byte("\n")):
		return 1
	}
	return 0
}

// blanks returns how many spaces and tabs a text begins with.
func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t")) }
