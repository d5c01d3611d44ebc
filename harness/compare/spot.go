package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A spot is where two values that are compared stand in their documents: a way down from both roots, of which nil is the
// beginning. Its JSON Pointers are written when somebody asks for them, and for nearly all values nobody does. They
// differ where a name holds a generated value, or a list lacks an element before them.
type spot struct {
	up    *spot
	names [2]string // of a member
	index [2]int    // of an element; -1 for a member
}

func (s *spot) member(ref, cand string) *spot {
	return &spot{up: s, names: [2]string{ref, cand}, index: [2]int{-1, -1}}
}

func (s *spot) element(ref, cand int) *spot { return &spot{up: s, index: [2]int{ref, cand}} }

// pointer returns the JSON Pointer of a side.
func (s *spot) pointer(side int) string {
	var room [128]byte
	return string(s.appendTo(room[:0], side))
}

func (s *spot) appendTo(pointer []byte, side int) []byte {
	if s == nil {
		return pointer
	}
	pointer = s.up.appendTo(pointer, side)
	if s.index[side] < 0 {
		return jsontree.AppendNameTo(pointer, s.names[side])
	}
	return jsontree.AppendIndexTo(pointer, s.index[side])
}

// pointers returns the JSON Pointers of both sides, the reference's first.
func (s *spot) pointers() [2]string {
	ref := s.pointer(0)
	for same := s; same != nil; same = same.up {
		if same.names[0] != same.names[1] || same.index[0] != same.index[1] {
			return [2]string{ref, s.pointer(1)}
		}
	}
	return [2]string{ref, ref}
}

// A location is a place for a person: a part of a step or of a stream and, in a document, the way down from its root.
type location struct {
	what string
	at   *spot
}

func (l location) String() string { return l.behind(l.at.pointer(0)) }

// behind is String for the reference's pointer.
func (l location) behind(pointer string) string { return strings.TrimSpace(l.what + " " + pointer) }
