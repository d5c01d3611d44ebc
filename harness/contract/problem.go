package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is a mistake in the OpenAPI document.
type Problem struct {
	File   string
	Line   int // 1-based; 0 when the whole file is at fault, or the place is unknown
	Column int // 1-based, in bytes; 0 when it is unknown
	What   string
	Fix    string // what to write instead; empty when we cannot tell
}

func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:", p.Line)
	}
	if p.Column > 0 {
		fmt.Fprintf(&b, "%d:", p.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(p.What)
	if p.Fix != "" {
		b.WriteString("\n\tfix: " + p.Fix)
	}
	return b.String()
}

// Problems are the mistakes of one document, in the order of its lines. Parse returns all of them as its error.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems in the order of the document, each once.
func (ps Problems) sorted(file string) Problems {
	for i := range ps {
		ps[i].File = file
	}
	slices.SortStableFunc(ps, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return slices.Compact(ps)
}

// didYouMean returns the fix for a misspelt word, or nothing when no known word is near.
func didYouMean(word string, known ...string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// nearest returns the known word that is the fewest changes away, if they are few enough for a slip of the finger.
func nearest(word string, known []string) string {
	const longest = 64 // no one mistypes a name of this length, and the comparison is quadratic
	if len(word) > longest {
		return ""
	}
	best, least := "", min(3, (len(word)+2)/3)+1
	for _, k := range known {
		if len(k) > longest {
			continue
		}
		if d := changes(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// changes counts the bytes to insert, drop or replace to turn a into b (Levenshtein's distance).
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			swap := diagonal
			if a[i] != b[j] {
				swap++
			}
			diagonal = row[j+1]
			row[j+1] = min(swap, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
