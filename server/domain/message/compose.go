package message

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxMarks is how many consecutive combining marks are left to the library. After 30 decomposed ones it would insert
// U+034F, as the Stream-Safe Text Process requires (UAX 15 §13).
const maxMarks = 8

// compose returns a text in NFC, with any number of consecutive marks (decision M52).
func compose(text string) string {
	var composed strings.Builder
	for {
		from, to := marks(text)
		if to == 0 {
			composed.WriteString(norm.NFC.String(text))
			return composed.String()
		}
		from = max(norm.NFC.LastBoundary([]byte(text[:from])), 0)
		composed.WriteString(norm.NFC.String(text[:from]))
		composed.WriteString(composeAll(text[from:to]))
		text = text[to:]
	}
}

// marks finds the first run of more than maxMarks marks. to is 0 if there is none.
func marks(text string) (from, to int) {
	count := 0
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf || classOf(r) == 0:
			if count > maxMarks {
				return from, i
			}
			from, count = i+utf8.RuneLen(r), 0
		default:
			count++
		}
	}
	if count > maxMarks {
		return from, len(text)
	}
	return 0, 0
}

// classOf returns the combining class of the first character in a character's decomposition.
func classOf(r rune) uint8 { return norm.NFD.PropertiesString(string(r)).LeadCCC() }

// composeAll implements NFC (Unicode 15 §3.11) for a text that begins at a boundary.
func composeAll(text string) string {
	var all []rune
	for _, r := range text {
		all = append(all, []rune(norm.NFD.String(string(r)))...)
	}
	for i := 0; i < len(all); {
		end := i + 1
		for classOf(all[i]) != 0 && end < len(all) && classOf(all[end]) != 0 {
			end++
		}
		slices.SortStableFunc(all[i:end], func(a, b rune) int { return int(classOf(a)) - int(classOf(b)) })
		i = end
	}
	starter, last := -1, uint8(0) // last is the class of the last mark after the starter
	done := all[:0]
	for _, r := range all {
		class := classOf(r)
		if starter >= 0 && (last < class || last == 0 && starter == len(done)-1) {
			if one := []rune(norm.NFC.String(string([]rune{done[starter], r}))); len(one) == 1 {
				done[starter] = one[0]
				continue
			}
		}
		if class == 0 {
			starter = len(done)
		}
		last = class
		done = append(done, r)
	}
	return string(done)
}
