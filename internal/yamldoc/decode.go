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

// A decoder reads documents as YAML 1.2 does. The library deviates in two ways. The decoder works around both by replacing
// the text with characters that the document does not use. A replacement has the same length, so that lines and
// columns stay the same.
//
//   - U+0085, U+2028 and U+2029 are not line breaks (YAML 1.2.2 §5.4). The library folds them, and counts a line.
//   - A character above U+FFFF may be written as two escapes, as in JSON, of which YAML 1.2 is a superset (§1.2).
type decoder struct {
	*yaml.Decoder
	raw     *strings.Replacer // restores replacements that are left in the output; nil if there are none
	escaped map[rune]rune     // the surrogate for each replacement character
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
			break // the library reports the rest as an error
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

// spares returns a function that yields unused characters of the private use area (Unicode §23.5), each once. A
// character is unused if the text has neither the character nor its four hexadecimal digits. The function returns
// false when none is left.
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

// Decode reads the next document. The error is io.EOF after the last one, a *surrogateError, or one of the library.
func (d *decoder) Decode(doc *yaml.Node) error {
	if err := d.Decoder.Decode(doc); err != nil || d.raw == nil {
		return err
	}
	return d.restore(doc)
}

// restore puts the original characters back.
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

// joined replaces pairs of surrogates by the characters that they encode. It returns false if one has no partner.
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

// A surrogateError reports an escape for half of a character.
type surrogateError struct{ line, column int }

func (e *surrogateError) Error() string {
	return fmt.Sprintf("line %d: half of a surrogate pair", e.line)
}
