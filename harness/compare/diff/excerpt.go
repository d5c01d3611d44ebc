package diff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Excerpt is the part of a value that a report shows.
type Excerpt struct {
	Text                string
	CutBefore, CutAfter int // bytes that are missing before and after Text
}

// Absent is how a side without a value is shown.
const Absent = "—"

// Show returns an excerpt with the whole text.
func Show(text string) Excerpt { return Excerpt{Text: strings.ToValidUTF8(text, "\ufffd")} }

// ShowSome is Show, except that an empty text is shown as absent.
func ShowSome(text string) Excerpt {
	if text == "" {
		return Excerpt{Text: Absent}
	}
	return Show(text)
}

// Quoted returns a name in quotation marks, as a JSON document has it. It escapes nothing.
func Quoted(name string) string { return `"` + name + `"` }

// MaxShown is how many bytes of a value a difference keeps.
const MaxShown = 2000

// Cut shortens two long texts to the part around the first place where they differ. Both excerpts begin at the same
// offset, because a report shows one below the other.
func Cut(a, b string) (Excerpt, Excerpt) {
	if len(a) <= MaxShown && len(b) <= MaxShown {
		return Excerpt{Text: a}, Excerpt{Text: b}
	}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	from = max(0, from-MaxShown/2)
	for from > 0 && !utf8.RuneStart(a[from]) {
		from--
	}
	return window(a, from), window(b, from)
}

func window(s string, from int) Excerpt {
	to := min(from+MaxShown, len(s))
	for to > from && to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	return Excerpt{s[from:to], from, len(s) - to}
}

// String returns the excerpt as reports store it: "[12 bytes cut] …" comes before the text, and "… [12 bytes cut]"
// after it.
func (e Excerpt) String() string {
	out := e.Text
	if e.CutBefore > 0 {
		out = fmt.Sprintf("[%d%s…%s", e.CutBefore, cutMark+" ", out)
	}
	if e.CutAfter > 0 {
		out = fmt.Sprintf("%s… [%d%s", out, e.CutAfter, cutMark)
	}
	return out
}

const cutMark = " bytes cut]"

// ParseExcerpt reads an excerpt from a report. If the value itself contains such marks, they are read as marks, too.
func ParseExcerpt(text string) Excerpt {
	e := Excerpt{Text: text}
	if rest, ok := strings.CutPrefix(text, "["); ok {
		if digits, rest, ok := strings.Cut(rest, cutMark+" …"); ok && isCount(digits) {
			e.CutBefore, _ = strconv.Atoi(digits)
			e.Text = rest
		}
	}
	if rest, ok := strings.CutSuffix(e.Text, cutMark); ok {
		if i := strings.LastIndex(rest, "… ["); i >= 0 && isCount(rest[i+len("… ["):]) {
			e.CutAfter, _ = strconv.Atoi(rest[i+len("… ["):])
			e.Text = rest[:i]
		}
	}
	return e
}

// isCount reports whether a text is a number that Atoi can read.
func isCount(s string) bool {
	return s != "" && len(s) <= 15 && strings.Trim(s, "0123456789") == ""
}
