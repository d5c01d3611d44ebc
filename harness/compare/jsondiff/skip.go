package jsondiff

import (
	"bytes"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// Large parts of two documents are usually equal and contain no generated values. Such a part is skipped, because it
// has no difference and nothing to bind. Both facts are known from reading the document, with one exception. Values
// that were bound by a rule have no shape, so they are searched for in the bytes of the part.

// shapeSkeleton is the skeleton of a text without regard to bindings.
func shapeSkeleton(s string) string { return withoutBindings.Of(0, s) }

var withoutBindings = (&ident.Bindings{}).Skeletons()

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
