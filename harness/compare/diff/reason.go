package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// A Reason says how two values differ. The zero Reason means that they do not differ.
type Reason struct {
	Kind Kind
	Code Code
	Args []any // the arguments of the code's sentence
}

func Because(kind Kind, code Code, args ...any) Reason { return Reason{kind, code, args} }

// None reports whether the values do not differ.
func (r Reason) None() bool { return r.Kind == "" }

// Text returns the sentence that describes the difference.
func (r Reason) Text() string { return r.Code.With(r.Args...) }

// String is Text. It allows a Reason to be an argument of another Reason.
func (r Reason) String() string { return r.Text() }

// With fills arguments into the sentence of the code.
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

// Verbatim is an argument that a sentence shows without quotation marks, even if its verb is %q.
type Verbatim string

// Format writes the text and ignores the verb.
func (v Verbatim) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, string(v)) }

// Fingerprint is a digest that is short enough to copy by hand.
func Fingerprint(parts ...string) string { return digest(4, parts) }

// Digest hashes several texts into one.
func Digest(parts ...string) string { return digest(sha256.Size, parts) }

// digest returns the first bytes of a SHA-256 in hexadecimal digits.
func digest(bytes int, parts []string) string {
	var room [512]byte
	text := room[:0]
	for i, part := range parts {
		if i > 0 {
			text = append(text, 0)
		}
		text = append(text, part...)
	}
	return sum(bytes, text)
}

func sum(bytes int, text []byte) string {
	all := sha256.Sum256(text)
	var digits [2 * sha256.Size]byte
	return string(hex.AppendEncode(digits[:0], all[:bytes]))
}

// Sum returns the SHA-256 of a text in hexadecimal digits.
func Sum(text []byte) string { return sum(sha256.Size, text) }
