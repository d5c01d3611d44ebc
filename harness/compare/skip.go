package compare

import (
	"bytes"
	"slices"
	"strconv"
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
	plain = plain && !d.b.briefs.stand(side, text)
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

// anyMadeUp reports whether a content may have anything in it that can be bound, on one side or the other.
func (b *bindings) anyMadeUp(c content) bool {
	if b.mentionedIn(c.data) || b.own.mayHold(c) {
		return true
	}
	if c.otherwise != "" {
		return hasShape(string(c.data), false)
	}
	return documentHasShape(c.data)
}

// mentionedIn reports whether a value that is known on either side stands in a body. Few values are looked for without a
// copy of it.
func (b *bindings) mentionedIn(data []byte) bool {
	if max(len(b.known[0]), len(b.known[1])) > fewKnown || !b.briefs.none() {
		text := string(data)
		return b.mentions(0, text) || b.mentions(1, text) || b.briefs.stand(0, text) || b.briefs.stand(1, text)
	}
	stands := func(k knownValue) bool { return bytes.Contains(data, []byte(k.value)) }
	return slices.ContainsFunc(b.known[0], stands) || slices.ContainsFunc(b.known[1], stands)
}

// hasShape reports whether a text may hold something that is recognised by its shape. In JSON an escape ends a word, but
// for one that hides what could be a part of it.
func hasShape(text string, json bool) bool {
	for {
		plain, rest, escape := text, "", false
		if json {
			plain, rest, escape = strings.Cut(text, `\`)
		}
		in := stretch{text: plain}
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
	if err != nil || inNano[c] || strings.IndexByte("%./:[", byte(c)) >= 0 {
		return 0
	}
	return 5
}

var inWord = func() (in [256]bool) {
	for c := range in {
		in[c] = alnum(byte(c))
	}
	return in
}()

// mayBegin reports whether a token can begin with a word of n bytes. Most words are told by their length and what comes
// behind them.
func mayBegin(text string, n int) bool {
	var next byte
	if n < len(text) {
		next = text[n]
	}
	switch next {
	case '-', '_':
		if n <= nanoLen {
			return true
		}
	case ',':
		if n == 3 {
			return true
		}
	case '.', ':':
		if text[0] == '1' || text[0] == 'l' {
			return true
		}
	}
	switch n {
	case 10, 13: // seconds and milliseconds
		return text[0] == '1'
	case 16, 21, 24, 26, 27, 32:
		return true
	}
	return false
}
