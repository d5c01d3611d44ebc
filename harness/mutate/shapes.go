package mutate

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A project may say how its ids look, and what in them is made up. A server that makes another one keeps to that.

// alikeByShape reports whether two texts have ids of the project's own shapes and are equal but for what is made up in them.
func (s *Subject) alikeByShape(a, b string) bool {
	am, bm := s.Rules.OwnIDs(a), s.Rules.OwnIDs(b)
	return len(am) > 0 && len(am) == len(bm) && withoutMade(a, am) == withoutMade(b, bm)
}

// withoutMade returns a text with a mark in the place of what is made up in its ids.
func withoutMade(text string, ids []compare.OwnID) string {
	var out strings.Builder
	at := 0
	for _, id := range ids {
		out.WriteString(text[at:id.From] + "\x00")
		at = id.To
	}
	return out.String() + text[at:]
}

// another returns a text with another id in it that is made like the one it has: it differs in what the project's shapes say
// is made up, or else in its last six letters and digits, of a time in milliseconds in the last three.
func (s *Subject) another(text string, seen time.Time, seed uint64) string {
	if ids := s.Rules.OwnIDs(text); len(ids) > 0 {
		id := ids[len(ids)-1]
		return text[:id.From] + fresh(text[id.From:id.To], seed) + text[id.To:]
	}
	if end := millisIn(text, seen); end > 0 {
		return text[:end-3] + fresh(text[end-3:end], seed) + text[end:]
	}
	return fresh(text, seed)
}

// freshID returns the id in a value that the server has made up, and another that is made like it and nobody has; "" where
// there is none, or where both sides have the same, since a scenario may count on that.
func (s *Subject) freshID(v *spot, seed uint64) (id, other string) {
	id = v.node.Text
	if v.class != made || v.node.Kind != jsontree.String || s.common(id, 1) == s.common(v.ref.Text, 0) {
		return "", ""
	}
	if own := s.Rules.OwnIDs(id); len(own) > 0 {
		last := own[len(own)-1]
		id = id[last.Start:last.End]
	} else if inner, _ := heldIn(v.node); len(id) < 8 || !isWord(id) || inner != nil || strings.HasPrefix(id, "00-") {
		return "", "" // what is in it may be made up, and not the text; nor are the flags of a traceparent
	}
	const tries = 8
	for n := range uint64(tries) {
		if other = s.another(id, v.doc.seen, seed+n); other != id && s.count(other) == 0 {
			return id, other
		}
	}
	return "", ""
}

// millisIn returns where a time of the run in milliseconds ends in a text; 0 when there is none.
func millisIn(text string, seen time.Time) int {
	const length = 13
	run := 0
	for i := range len(text) + 1 {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' {
			run++
			continue
		}
		if run == length {
			if _, _, ok := timeOf(text[i-run:i], seen); ok {
				return i
			}
		}
		run = 0
	}
	return 0
}

// words returns what puts one word in the place of another, where no letter or digit goes on before or behind it.
func words(word, other string) func(string) string {
	return func(text string) string {
		var out strings.Builder
		for at := 0; ; {
			i := nextWord(text, word, at)
			if i < 0 {
				return out.String() + text[at:]
			}
			out.WriteString(text[at:i] + other)
			at = i + len(word)
		}
	}
}

// nextWord returns where a word stands next at or after a place; -1 when it does not.
func nextWord(text, word string, at int) int {
	for at <= len(text) {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return -1
		}
		i += at
		if end := i + len(word); (i == 0 || !alnum(text[i-1])) && (end == len(text) || !alnum(text[end])) {
			return i
		}
		at = i + 1
	}
	return -1
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
