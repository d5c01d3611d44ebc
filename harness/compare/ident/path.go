package ident

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Path is the way from the roots of two documents to two values that are compared; nil stands for the roots. Its JSON
// Pointers are written only on request, because nearly all values never need them. The pointers differ where a name
// contains a generated value, or where one list lacks an earlier element.
type Path struct {
	Up    *Path
	Names [2]string // of a member
	index [2]int    // of an element; -1 for a member
	// label and key name an element of a list whose order does not matter, because its index changes from run to run.
	// label is for people. key is the same in every run; "" for all other elements.
	label, key string
}

func (s *Path) Member(ref, cand string) *Path {
	return &Path{Up: s, Names: [2]string{ref, cand}, index: [2]int{-1, -1}}
}

func (s *Path) Element(ref, cand int) *Path {
	return &Path{Up: s, index: [2]int{ref, cand}}
}

// LooseElement is Element for a list whose order does not matter.
func (s *Path) LooseElement(ref, cand int, label, key string) *Path {
	return &Path{Up: s, index: [2]int{ref, cand}, label: label, key: key}
}

// element returns the label of the innermost such element, and the reference's pointer with keys instead of indexes.
// stable is "" when there is no such element.
func (s *Path) element() (label, stable string) {
	loose := false
	for up := s; up != nil; up = up.Up {
		if label == "" {
			label = up.label
		}
		loose = loose || up.key != ""
	}
	if loose {
		stable = string(s.appendStable(nil))
	}
	return label, stable
}

func (s *Path) appendStable(pointer []byte) []byte {
	switch {
	case s == nil:
		return pointer
	case s.key != "":
		return append(append(s.Up.appendStable(pointer), '/'), s.key...)
	case s.index[0] < 0:
		return jsontree.AppendNameTo(s.Up.appendStable(pointer), s.Names[0])
	default:
		return jsontree.AppendIndexTo(s.Up.appendStable(pointer), s.index[0])
	}
}

// Pointer returns the JSON Pointer of a side.
func (s *Path) Pointer(side int) string {
	var room [128]byte
	return string(s.appendTo(room[:0], side))
}

func (s *Path) appendTo(pointer []byte, side int) []byte {
	if s == nil {
		return pointer
	}
	pointer = s.Up.appendTo(pointer, side)
	if s.index[side] < 0 {
		return jsontree.AppendNameTo(pointer, s.Names[side])
	}
	return jsontree.AppendIndexTo(pointer, s.index[side])
}

// pointers returns the JSON Pointers of both sides, the reference's first.
func (s *Path) pointers() [2]string {
	ref := s.Pointer(0)
	for same := s; same != nil; same = same.Up {
		if same.Names[0] != same.Names[1] || same.index[0] != same.index[1] {
			return [2]string{ref, s.Pointer(1)}
		}
	}
	return [2]string{ref, ref}
}

// A Part is the compared part of a message in a step or a stream, such as the body of a response.
type Part struct {
	step, stream string // for a stream, step is the one that opened it
	At           diff.At
}

// A Location is a part and, in a document, the path from its root.
type Location struct {
	*Part
	node *Path
}

// InStep returns the location of a part of a step.
func InStep(step string, at diff.At) Location { return Location{Part: &Part{step: step, At: at}} }

// InStream returns the location of a part of an event.
func InStream(s *transcript.Stream, at diff.At) Location {
	return Location{Part: &Part{s.Step, s.Name, at}}
}

// Inside returns the location of a document that the text at this location contains.
func (l Location) Inside(mark string) Location {
	at := l.Place()
	at.Inside = strings.TrimSpace(at.Inside + " " + mark)
	return Location{Part: &Part{l.step, l.stream, at}}
}

// To returns the location of a value in the same part.
func (l Location) To(node *Path) Location { return Location{l.Part, node} }

// Place returns the location within its message.
func (l Location) Place() diff.At {
	at := l.At
	switch {
	case l.node == nil:
	case at.Inside != "":
		at.Inside += " " + l.node.Pointer(0)
		at.Element, _ = l.node.element()
	default:
		at.Pointers = l.node.pointers()
		at.Element, at.Stable = l.node.element()
	}
	return at
}

// String describes the location for people.
func (l Location) String() string {
	if l.stream != "" {
		return "stream " + l.stream + " " + l.Place().String()
	}
	return "step " + l.step + " " + l.Place().String()
}

// A Place is where two values are, and when each was seen.
type Place struct {
	Where    Location
	Seen     [2]time.Time
	Timeline string    // the sequence that the values belong to, for times that must not go back; "" when they have no order
	Of       [2]string // what the client asked each side for: a method and a target, or the name of a stream
	MayBeOld bool      // a time may be far in the past, if both sides' are about equally old
}
