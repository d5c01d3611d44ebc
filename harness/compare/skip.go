package compare

import (
	"bytes"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Most of two large documents is equal, and holds nothing that a server makes up. Such a part is passed over: there is
// no difference in it, and no value to bind. Both are known of it since the document was read; what has to be looked for
// are values that were bound after their rule, which have no shape, in the part's own bytes.

// bare is the skeleton of a text without regard to what has been bound.
func bare(s string) string { return (&bindings{}).skeleton(0, s) }

// same reports whether two values are equal and there is nothing to bind in them, as far as that can be seen at once.
func (d *documents) same(ref, cand *jsontree.Node) bool {
	rs, rplain, ok := d.summary(0, ref)
	if !ok || !rplain {
		return false
	}
	cs, cplain, ok := d.summary(1, cand)
	return ok && cplain && rs == cs
}

// summary returns the sum of a value's outline, if it was made when the document was read and still is right. plain is
// whether nothing in it has the shape of what servers make up.
func (d *documents) summary(side int, n *jsontree.Node) (sum jsontree.Sum, plain, ok bool) {
	sum, text, plain, hidden, ok := n.Summary()
	if !ok || len(d.volatile[0])+len(d.volatile[1]) > 0 {
		return 0, false, false
	}
	known := d.b.known[side]
	if d.whole[side].lacks(known) {
		return sum, plain, !hidden || len(known) == 0
	}
	return sum, plain, len(known) <= manyKnown && !mayMention(text, hidden, known)
}

// manyKnown is how many values are looked for in each part by itself.
const manyKnown = 64

// searched is a document in which known values were looked for.
type searched struct {
	text  []byte
	upTo  int // how many of them
	found bool
}

// lacks reports whether none of the values can be in the document.
func (s *searched) lacks(known []knownValue) bool {
	for ; s.upTo < len(known) && !s.found; s.upTo++ {
		value := known[s.upTo].value
		s.found = s.upTo >= manyKnown || bytes.Contains(s.text, []byte(value)) || !ordinary(value) && bytes.IndexByte(s.text, '\\') >= 0
	}
	return !s.found
}

func mayMention(text string, hidden bool, known []knownValue) bool {
	if hidden && len(known) > 0 {
		return true
	}
	for _, k := range known {
		if strings.Contains(text, k.value) || !ordinary(k.value) && strings.IndexByte(text, '\\') >= 0 {
			return true
		}
	}
	return false
}

// ordinary reports whether a text stands in JSON as it is, if its letters and digits are not escaped.
func ordinary(s string) bool {
	for i := range len(s) {
		if !alnum(s[i]) && strings.IndexByte("-_.:", s[i]) < 0 {
			return false
		}
	}
	return true
}

// anyMadeUp reports whether a text has anything in it that can be bound, on one side or the other.
func (b *bindings) anyMadeUp(text []byte) bool {
	for _, known := range b.known {
		for _, k := range known {
			if bytes.Contains(text, []byte(k.value)) {
				return true
			}
		}
	}
	return hasShape(text)
}

// hasShape reports whether a text may hold something that is recognised by its shape. It looks at where words end, and
// more closely at the few that a token could begin with.
func hasShape(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if !inWord[text[i]] {
			if text[i] == '[' && beginsToken(text[i:]) {
				return true
			}
			continue
		}
		from := i
		for i++; i < len(text) && inWord[text[i]]; i++ {
		}
		if mayBegin(text[from:], i-from) && beginsToken(text[from:]) {
			return true
		}
	}
	return false
}

var inWord = func() (in [256]bool) {
	for c := range in {
		in[c] = alnum(byte(c))
	}
	return in
}()

// mayBegin reports whether a token can begin with a word of n bytes.
func mayBegin(text []byte, n int) bool {
	var next byte
	if n < len(text) {
		next = text[n]
	}
	switch n {
	case 10, 13: // seconds and milliseconds
		if text[0] == '1' {
			return true
		}
	case 26:
		return true
	}
	switch next {
	case '-', '_':
		return n <= 12
	case ',':
		return n == 3
	case '.', ':':
		return text[0] == '1' || text[0] == 'l'
	}
	return false
}

// beginsToken looks at what a token can need at most to be recognised.
func beginsToken(text []byte) bool {
	const most = 64
	s := string(text[:min(most, len(text))])
	if fits(s, "dddd-dd-ddTdd:dd:dd") {
		return true // with however many digits of the second
	}
	_, ok := tokenAt(s, 0, 0)
	return ok
}
