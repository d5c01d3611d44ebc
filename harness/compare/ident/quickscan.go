package ident

import (
	"bytes"
	"strconv"
	"strings"
)

// Whatever has a shape shows itself by one of four signs: ten letters, digits, dashes or underscores in a row, a slash, a
// percent sign, or a colon that does not follow a name of JSON. Documents are looked through for these, byte by byte, and
// only the strings that have one are looked at by their words. A test holds this against hasShape.

const minRun = 10 // seconds since 1970; all others are longer

const (
	inRow   = 1 << iota
	isSign  // a slash, a percent sign, or a backslash
	isColon // a sign, unless a quotation mark stands before it
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

// documentHasShape is hasShape of a JSON document. Nearly all bytes show nothing, and cost no branch that depends on them.
func documentHasShape(doc []byte) bool {
	from := 0 // behind the last escape, or the last string that has been looked at
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

// stringAt returns where the string begins and ends that has the i-th byte, or what lies between its escapes. It begins at
// from at the earliest.
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

// hasShape reports whether a text may hold something that is recognised by its shape. In JSON an escape ends a word, but
// for one that hides what could be a part of it.
func hasShape(text string, json bool) bool {
	for {
		plain, rest, escape := text, "", false
		if json {
			plain, rest, escape = strings.Cut(text, `\`)
		}
		in := segment{text: plain}
		if _, found := in.next(0); found {
			return true
		}
		if !escape {
			return false
		}
		n := escapeLen(rest)
		if n == 0 {
			return true
		}
		text = rest[n:]
	}
}

// escapeLen returns how long the escape of a JSON string is without its backslash; 0 when it may stand for a part of what
// is made up.
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
