package textfit

import (
	"unicode"
	"unicode/utf8"
)

// A Part is a part of a text that is compared with another one.
type Part struct {
	Text string
	Same bool // the other text has it, too
}

// maxWordTable limits the table that is used to compare the words of two texts.
const maxWordTable = 250_000

// Words compares two texts word by word, and returns the parts of both. Each character that is no letter, digit, underscore
// or white space is a word of its own.
func Words(left, right string) (l, r []Part) {
	a, b := split(left), split(right)
	from, end := 0, 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	for end < min(len(a), len(b))-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	sameA, sameB := commonWords(a[from:len(a)-end], b[from:len(b)-end])
	return parts(a, from, end, sameA), parts(b, from, end, sameB)
}

// split returns the words of a text.
func split(s string) []string {
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		default:
			return 0
		}
	}
	var out []string
	for from := 0; from < len(s); {
		r, n := utf8.DecodeRuneInString(s[from:])
		to := from + n
		for of := kind(r); of != 0 && to < len(s); to += n {
			if r, n = utf8.DecodeRuneInString(s[to:]); kind(r) != of {
				break
			}
		}
		out, from = append(out, s[from:to]), to
	}
	return out
}

// commonWords reports which words belong to a longest common subsequence.
func commonWords(a, b []string) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	if len(a)*len(b) > maxWordTable {
		return inA, inB
	}
	w := len(b) + 1
	longest := make([]int32, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*w+j] = longest[(i+1)*w+j+1] + 1
			} else {
				longest[i*w+j] = max(longest[(i+1)*w+j], longest[i*w+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case longest[(i+1)*w+j] >= longest[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// parts joins the words of a text. The first and the last ones are the same in both texts, and same is about the others.
func parts(words []string, first, last int, same []bool) []Part {
	var out []Part
	for i, word := range words {
		is := i < first || i >= len(words)-last || same[i-first]
		if n := len(out); n > 0 && out[n-1].Same == is {
			out[n-1].Text += word
		} else {
			out = append(out, Part{word, is})
		}
	}
	return out
}
