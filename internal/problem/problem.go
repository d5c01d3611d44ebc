// Package problem describes mistakes in files that people write: where, what, and what to write instead.
package problem

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Problem is a mistake in a file that somebody wrote.
type Problem struct {
	File   string
	Line   int    // 1-based; 0 if it is about the whole file
	Column int    // 1-based, in characters; 0 if it is about the whole line
	What   string // e.g. `unknown key "expct"`
	Fix    string // e.g. `did you mean "expect"?`; "" if unknown
}

// Error returns "file:line:column: what", and the fix on a line of its own.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(visible(p.File) + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, "%d:", p.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(p.What)
	if p.Fix != "" {
		b.WriteString("\n\tfix: ")
		b.WriteString(p.Fix)
	}
	return b.String()
}

// visible returns a file name, in quotes if a character in it cannot be seen.
func visible(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return name
	}
	return strconv.Quote(name)
}

// Problems are all mistakes that were found, in the order of files and lines.
type Problems []Problem

// Error returns the problems one below the other.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Sort sorts the problems by place, and removes duplicates.
func (ps Problems) Sort() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(ps)
}

// Err returns the problems as an error, or nil if there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Nearest returns the word that was most likely meant, and whether it is similar enough to be a typing mistake.
func Nearest(word string, words []string) (string, bool) {
	const longest = 200 // longer names are not typing mistakes, and the comparison is quadratic
	if len(word) > longest {
		return "", false
	}
	best, distance := "", min(len(word)/3+2, 5)
	for _, w := range words {
		if len(w) > longest {
			continue
		}
		if d := edits(strings.ToLower(word), strings.ToLower(w)); d < distance && (d < 2 || !another(word, w)) {
			best, distance = w, d
		}
	}
	if whole := begun(word, words); whole != "" && (best == "" || distance > 1) {
		return whole, true
	}
	return best, best != ""
}

// another reports whether a short word has another first letter than the suggestion. Within a few letters, two
// changes can turn any word into any other.
func another(word, meant string) bool {
	const few = 4
	return len(word) <= few && word != "" && meant != "" && !strings.EqualFold(word[:1], meant[:1])
}

// begun returns the shortest word that starts with the given text, or "" if there is none.
func begun(word string, words []string) string {
	const least = 3 // letters
	best := ""
	for _, w := range words {
		if len(word) >= least && len(w) > len(word) && strings.EqualFold(w[:len(word)], word) && (best == "" || len(w) < len(best)) {
			best = w
		}
	}
	return best
}

// DidYouMean returns a fix that suggests the nearest word, or "" if none is similar.
func DidYouMean(word string, words []string) string {
	if near, ok := Nearest(word, words); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// OneOf returns a fix that suggests the nearest word, or else lists all of them.
func OneOf(word string, words []string) string {
	if fix := DidYouMean(word, words); fix != "" || len(words) == 0 {
		return fix
	}
	return "use one of: " + strings.Join(slices.Sorted(slices.Values(words)), ", ")
}

// edits returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			replace := last[j-1]
			if s[i-1] != t[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
