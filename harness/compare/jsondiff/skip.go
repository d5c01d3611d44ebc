package jsondiff

import (
	"bytes"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Large parts of two documents are usually equal and contain no generated values. Such a part is skipped, because it
// has no difference and nothing to bind. Both facts are known from reading the document, with one exception. Values
// that were bound by a rule have no shape, so they are searched for in the bytes of the part.

// shapeSkeleton is the skeleton of a text without regard to bindings.
func shapeSkeleton(s string) string { return withoutBindings.Of(0, s) }

var withoutBindings = (&ident.Bindings{}).Skeletons()

// equalPlain reports whether the sums of two values show that they are equal and contain nothing to bind.
func (s *sums) equalPlain(ref, cand *jsontree.Node) bool {
	rs, rplain, ok := s.summary(0, ref)
	if !ok || !rplain {
		return false
	}
	cs, cplain, ok := s.summary(1, cand)
	return ok && cplain && rs == cs
}

// summary returns the sum of a value's outline, if it was computed when the document was read and is still valid. plain
// is whether nothing in the value has the shape of a generated value.
func (s *sums) summary(side int, n *jsontree.Node) (sum jsontree.Sum, plain, ok bool) {
	sum, text, plain, hidden, ok := n.Summary()
	if !ok || !s.in.rules.none() {
		return 0, false, false
	}
	plain = plain && !s.in.ids.Vocabulary.ShortIDs.MayBeIn(side, text)
	known := s.in.ids.Vocabulary.Known(side)
	if s.whole[side].lacks(known) {
		return sum, plain, !hidden || len(known) == 0
	}
	return sum, plain, len(known) <= maxKnownPerPart && !mayMention(text, hidden, known)
}

// maxKnownPerPart is how many known values are searched for in each part separately.
const maxKnownPerPart = 64

// A searchedText is a document that was searched for known values.
type searchedText struct {
	text  []byte
	upTo  int // how many of them were searched for
	found bool
}

// lacks reports whether the document cannot contain any of the values.
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

// neverEscaped reports whether JSON writes a text literally, as long as letters and digits are not escaped.
func neverEscaped(s string) bool {
	for i := range len(s) {
		if !ident.Alnum(s[i]) && strings.IndexByte("-_.:", s[i]) < 0 {
			return false
		}
	}
	return true
}
