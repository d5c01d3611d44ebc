package compare

import (
	"fmt"
	"math"
	"strings"
)

// Two ids that stand in the same place are bound, and they must be made alike: a client that keeps
// them in a column of 16 characters, or matches them with [0-9a-f]+, depends on it. Of how an id is made its length can
// be seen at once. Its alphabet cannot: one hexadecimal id in 300 of 12 characters has no letter. So what has been seen
// of each side is put together, and told when it can hardly be chance any more.

// An alphabet is a set of characters, by their classes.
type alphabet byte

const (
	digits alphabet = 1 << iota
	lowerHex
	lowerRest
	upperHex
	upperRest
)

// alphabets are those that ids are drawn from, each before those that it is a part of.
var alphabets = []struct {
	set  alphabet
	size float64
	name string
}{
	{digits, 10, "digits"},
	{digits | lowerHex, 16, "lower-case hexadecimal digits"},
	{digits | upperHex, 16, "upper-case hexadecimal digits"},
	{digits | lowerHex | lowerRest, 36, "lower-case letters and digits"},
	{digits | upperHex | upperRest, 36, "upper-case letters and digits"},
	{digits | lowerHex | lowerRest | upperHex | upperRest, 62, "letters of both cases and digits"},
}

// class returns the index of the smallest alphabet that has all of a set.
func (a alphabet) class() int {
	for i := range alphabets {
		if a&^alphabets[i].set == 0 {
			return i
		}
	}
	return len(alphabets) - 1
}

func alphabetOf(s string) alphabet {
	var out alphabet
	for _, c := range []byte(s) {
		switch {
		case digit(c):
			out |= digits
		case c >= 'a' && c <= 'f':
			out |= lowerHex
		case c >= 'a' && c <= 'z':
			out |= lowerRest
		case c >= 'A' && c <= 'F':
			out |= upperHex
		case c >= 'A' && c <= 'Z':
			out |= upperRest
		}
	}
	return out
}

// A draw is what has been seen of the ids that one side makes.
type draw struct {
	seen alphabet
	n    int // characters
}

func (d *draw) add(s string) {
	d.seen |= alphabetOf(s)
	d.n += len(s)
}

// chance returns how likely it is that characters of an alphabet are all from the class that was seen.
func (d *draw) chance(class int) float64 {
	return math.Pow(alphabets[d.seen.class()].size/alphabets[class].size, float64(d.n))
}

// hardly is the chance below which two alphabets count as two.
const hardly = 1e-5

// remade says in what two ids that are bound to each other are made differently; "" when they may be made alike. lead is
// what stands before the part that is made up: "ses_".
func (b *bindings) remade(kind tokenKind, lead, ref, cand string) string {
	if why := nilID(ref, cand); why != "" {
		return why
	}
	switch kind {
	case tokUUID, tokCompact:
		r, c := alphabetOf(ref)&^digits, alphabetOf(cand)&^digits
		if r != 0 && c != 0 && r != c {
			return fmt.Sprintf("the ids are written differently: %s, and %s", caseOf(r), caseOf(c))
		}
	case tokPrefixed:
		if len(ref) != len(cand) {
			return fmt.Sprintf("the ids are made differently: %d characters behind %q, and %d", len(ref), lead, len(cand))
		}
		return b.redrawn(lead, ref, cand)
	}
	return ""
}

// nilID says that one of two ids is nil, which is nobody's: it has no digit but zero.
func nilID(ref, cand string) string {
	for side, id := range [2]string{ref, cand} {
		if isNil(id) && !isNil([2]string{ref, cand}[1-side]) {
			return sideNames[side] + "'s id is nil: it is all zeros"
		}
	}
	return ""
}

// isNil reports whether an id is all zeros, such as the nil UUID (RFC 9562 §5.9).
func isNil(id string) bool {
	return len(id) >= leastNil && strings.Trim(id, "0-") == "" && strings.Contains(id, "0")
}

// leastNil is the length from which zeros are an id that was not set. Shorter ones may be the first of a counter.
const leastNil = 12

func (b *bindings) redrawn(lead, ref, cand string) string {
	d := b.drawn[lead]
	if d == nil {
		d = &[2]draw{}
		put(&b.drawn, lead, d)
	}
	d[0].add(ref)
	d[1].add(cand)
	r, c := d[0].seen.class(), d[1].seen.class()
	if r == c {
		return ""
	}
	of := (d[0].seen | d[1].seen).class()
	if d[0].chance(of)*d[1].chance(of) > hardly {
		return ""
	}
	return fmt.Sprintf("the ids are made differently: of %s, and of %s", alphabets[r].name, alphabets[c].name)
}

func caseOf(letters alphabet) string {
	switch {
	case letters&upperHex == 0:
		return "in lower case"
	case letters&lowerHex == 0:
		return "in upper case"
	default:
		return "in both cases"
	}
}

// leadOf returns what stands before the part of a text that is made up, when the text is an id behind a prefix and
// nothing else.
func leadOf(s string, tokens []token) string {
	if len(tokens) != 1 || tokens[0].kind != tokPrefixed || tokens[0].start > 0 || tokens[0].end < len(s) {
		return ""
	}
	return s[:tokens[0].lead]
}
