package jsondiff

import (
	"bytes"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Most of two large documents is equal, and holds nothing that a server makes up. Such a part is passed over: there is
// no difference in it, and no value to bind. Both are known of it since the document was read; what has to be looked for
// are values that were bound after their rule, which have no shape, in the part's own bytes.

// shapeSkeleton is the skeleton of a text without regard to what has been bound.
func shapeSkeleton(s string) string { return (&ident.Bindings{}).Skeleton(0, s) }

// equalPlain reports whether two values are equal and there is nothing to bind in them, as far as that can be seen at once.
func (e *equality) equalPlain(ref, cand *jsontree.Node) bool {
	rs, rplain, ok := e.summary(0, ref)
	if !ok || !rplain {
		return false
	}
	cs, cplain, ok := e.summary(1, cand)
	return ok && cplain && rs == cs
}

// summary returns the sum of a value's outline, if it was made when the document was read and still is right. plain is
// whether nothing in it has the shape of what servers make up.
func (e *equality) summary(side int, n *jsontree.Node) (sum jsontree.Sum, plain, ok bool) {
	sum, text, plain, hidden, ok := n.Summary()
	if !ok || len(e.volatile[0])+len(e.volatile[1]) > 0 {
		return 0, false, false
	}
	plain = plain && !e.ids.ShortIDs.MayBeIn(side, text)
	known := e.ids.Known[side]
	if e.whole[side].lacks(known) {
		return sum, plain, !hidden || len(known) == 0
	}
	return sum, plain, len(known) <= maxKnownPerPart && !mayMention(text, hidden, known)
}

// maxKnownPerPart is how many values are looked for in each part by itself.
const maxKnownPerPart = 64

// searchedText is a document in which known values were looked for.
type searchedText struct {
	text  []byte
	upTo  int // how many of them
	found bool
}

// lacks reports whether none of the values can be in the document.
func (s *searchedText) lacks(known []ident.KnownValue) bool {
	for ; s.upTo < len(known) && !s.found; s.upTo++ {
		value := known[s.upTo].Value
		s.found = s.upTo >= maxKnownPerPart || bytes.Contains(s.text, []byte(value)) || !neverEscaped(value) && bytes.IndexByte(s.text, '\\') >= 0
	}
	return !s.found
}

func mayMention(text string, hidden bool, known []ident.KnownValue) bool {
	if hidden && len(known) > 0 {
		return true
	}
	for _, k := range known {
		if strings.Contains(text, k.Value) || !neverEscaped(k.Value) && strings.IndexByte(text, '\\') >= 0 {
			return true
		}
	}
	return false
}

// neverEscaped reports whether a text stands in JSON as it is, if its letters and digits are not escaped.
func neverEscaped(s string) bool {
	for i := range len(s) {
		if !ident.Alnum(s[i]) && strings.IndexByte("-_.:", s[i]) < 0 {
			return false
		}
	}
	return true
}
