package ident

import (
	"bytes"
	"strconv"
	"strings"
)

// Everything with a recognised shape contains one of four signs: a row of ten letters, digits, dashes or underscores, a
// slash, a percent sign, or a colon that does not follow a JSON name. Documents are searched for these signs byte by
// byte, and only strings with a sign are scanned word by word. A test compares the result with a
// scan of all words.

const minRun = 10 // seconds since 1970 have 10 digits; all other shapes are longer

const (
	inRow   = 1 << iota
	isSign  // a slash, a percent sign, or a backslash
	isColon // a sign, unless a quotation mark precedes it
	isQuote
)

var signs = func() (out [256]uint8) {
	for c := range out {
		if InNano[c] {
			out[c] = inRow
		}
	}
	out['/'], out['%'], out['\\'], out[':'], out['"'] = isSign, isSign, isSign, isColon, isQuote
	return out
}()

// documentHasShape is hasShape for a JSON document. An escape ends a word. An escape that may hide a part of a token
// counts as a shape. Nearly all bytes are no signs, so the loop classifies bytes by a
// table and has few branches.
func documentHasShape(doc []byte) bool {
	from := 0 // after the last escape, or after the last string that was scanned
	row, before := 0, uint8(0)
	for i := 0; i < len(doc); i++ {
		sign := signs[doc[i]]
		row = (row + 1) & -int(sign&inRow)
		shown := sign&isSign | sign&isColon&^(before>>1)
		before = sign
		if shown == 0 && row < minRun {
			continue
		}
		if doc[i] == '\\' {
			n := escapeLen(string(doc[i+1 : min(i+6, len(doc))]))
			if n == 0 {
				return true
			}
			i, from, row, before = i+n, i+n+1, 0, 0
			continue
		}
		start, end := stringAt(doc, from, i)
		in := segment{text: string(doc[start:end])}
		if _, found := in.next(0); found {
			return true
		}
		i, from, row, before = end-1, end, 0, 0
	}
	return false
}

// stringAt returns the bounds of the string that contains the i-th byte, or of its part between two escapes. start is
// never before from.
func stringAt(doc []byte, from, i int) (start, end int) {
	start, end = from, len(doc)
	if n := bytes.LastIndexByte(doc[from:i], '"'); n >= 0 {
		start = from + n + 1
	}
	if n := bytes.IndexAny(doc[i:], `"\`); n >= 0 {
		end = i + n
	}
	return start, end
}

// hasShape reports whether a text may contain something that is recognised by its shape.
func hasShape(text string) bool {
	in := segment{text: text}
	_, found := in.next(0)
	return found
}

// escapeLen returns the length of an escape in a JSON string, without its backslash; 0 when it may stand for a part of
// a token.
func escapeLen(s string) int {
	switch {
	case s == "" || s[0] == '/':
		return 0
	case s[0] != 'u':
		return 1
	case len(s) < 5 || s[1:3] != "00":
		return min(5, len(s))
	}
	c, err := strconv.ParseUint(s[3:5], 16, 8)
	if err != nil || InNano[c] || strings.IndexByte("%./:[", byte(c)) >= 0 {
		return 0
	}
	return 5
}
