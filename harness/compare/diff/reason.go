package diff

import (
	"fmt"
	"io"
)

// A Reason says how two values differ. The zero Reason says that they do not.
type Reason struct {
	Kind Kind
	Code Code
	Args []any // of the code's sentence
}

// Because returns a reason.
func Because(kind Kind, code Code, args ...any) Reason { return Reason{kind, code, args} }

// None reports whether there is no difference.
func (r Reason) None() bool { return r.Kind == "" }

// Text returns the sentence.
func (r Reason) Text() string { return r.Code.With(r.Args...) }

// String is Text, so that a reason can be an argument of another one.
func (r Reason) String() string { return r.Text() }

// With returns the sentence of a code.
func (c Code) With(args ...any) string {
	if len(args) == 0 {
		return string(c)
	}
	return fmt.Sprintf(string(c), args...)
}

// A Side is the reference or the candidate.
type Side int

// String names the side in a sentence.
func (s Side) String() string { return [...]string{"the reference", "the candidate"}[s] }

// Verbatim is an argument that a sentence has without quotation marks, whatever its verb.
type Verbatim string

// Format writes the text.
func (v Verbatim) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, string(v)) }
