package yamldoc

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
)

// A decoder reads documents as YAML 1.2 does. The library differs from it in two things, and gets stand-ins for both: a
// character that the text does not have, as long as what it stands for, so that lines and columns stay as they are.
//
//   - U+0085, U+2028 and U+2029 are no line breaks (YAML 1.2.2 §5.4). The library folds them, and counts a line.
//   - A character beyond U+FFFF may be written as two escapes, as in JSON, of which YAML 1.2 is a superset (§1.2).
type decoder struct {
	*yaml.Decoder
	raw     *strings.Replacer // takes back stand-ins that the library left as they were written; nil when there are none
	escaped map[rune]rune     // surrogates by their stand-ins
}

var (
	notBreaks = []string{"\u0085", "\u2028", "\u2029"}
	surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)
)

func newDecoder(data []byte) *decoder {
	d := &decoder{escaped: map[rune]rune{}}
	text, there, back := string(data), []string(nil), []string(nil)
	spare := spares(text)
	for _, c := range notBreaks {
		if strings.Contains(text, c) {
			if s, ok := spare(); ok {
				there, back = append(there, c, string(s)), append(back, string(s), c)
			}
		}
	}
	for _, escape := range slices.Compact(slices.Sorted(slices.Values(surrogate.FindAllString(text, -1)))) {
		c, ok := spare()
		if !ok {
			break // the library refuses what stays
		}
		unit, _ := strconv.ParseUint(escape[2:], 16, 16)
		d.escaped[c] = rune(unit)
		s := fmt.Sprintf(`\u%04x`, c)
		there, back = append(there, escape, s), append(back, s, escape)
	}
	if there != nil {
		text, d.raw = strings.NewReplacer(there...).Replace(text), strings.NewReplacer(back...)
	}
	d.Decoder = yaml.NewDecoder(strings.NewReader(text))
	return d
}

// spares returns a function that returns characters for private use (Unicode §23.5) which a text does not have, neither as
// they are nor as four hexadecimal digits, each once; false when there is none left.
func spares(text string) func() (rune, bool) {
	const first, last = 0xe000, 0xf8ff
	var used map[rune]bool
	next := rune(first)
	return func() (rune, bool) {
		if used == nil {
			used = map[rune]bool{}
			for i, c := range text {
				used[c] = true
				if digits, err := strconv.ParseUint(text[i:min(i+4, len(text))], 16, 16); err == nil && digits >= first {
					used[rune(digits)] = true
				}
			}
		}
		for ; next <= last; next++ {
			if !used[next] {
				next++
				return next - 1, true
			}
		}
		return 0, false
	}
}

// Decode reads the next document. The error is io.EOF behind the last, a *surrogateError, or the library's.
func (d *decoder) Decode(doc *yaml.Node) error {
	if err := d.Decoder.Decode(doc); err != nil || d.raw == nil {
		return err
	}
	return d.restore(doc)
}

// restore puts back what the stand-ins stand for.
func (d *decoder) restore(n *yaml.Node) error {
	if strings.ContainsFunc(n.Value, func(c rune) bool { return d.escaped[c] != 0 }) {
		text, ok := d.joined(n.Value)
		if !ok {
			return &surrogateError{n.Line, n.Column}
		}
		n.Value = text
	}
	n.Value = d.raw.Replace(n.Value)
	for _, child := range n.Content {
		if err := d.restore(child); err != nil {
			return err
		}
	}
	return nil
}

// joined puts characters in the place of pairs of surrogates. It reports whether all had a partner.
func (d *decoder) joined(value string) (string, bool) {
	var out strings.Builder
	var high rune
	for _, c := range value {
		unit := d.escaped[c]
		switch whole := utf16.DecodeRune(high, unit); {
		case high != 0 && !utf16.IsSurrogate(unit), high != 0 && whole == '\ufffd', high == 0 && unit >= 0xdc00:
			return "", false
		case high != 0:
			out.WriteRune(whole)
			high = 0
		case unit != 0:
			high = unit
		default:
			out.WriteRune(c)
		}
	}
	return out.String(), high == 0
}

// A surrogateError is an escape for half of a character.
type surrogateError struct{ line, column int }

func (e *surrogateError) Error() string {
	return fmt.Sprintf("line %d: half of a surrogate pair", e.line)
}
