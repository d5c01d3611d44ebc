package decode

import "github.com/lockstep-dev/lockstep/server/wire/jsonwire"

// A span is the place of a value in its text.
type span struct {
	text     []byte // the whole text
	from, to int
}

// Exists reports whether there is a value; null is one.
func (s span) Exists() bool { return s.to > s.from }

// IsNull reports whether the value is null or missing.
func (s span) IsNull() bool { return !s.Exists() || s.text[s.from] == 'n' }

// Size returns the size of the value in the original text, in bytes.
func (s span) Size() int { return s.to - s.from }

func (s span) raw() []byte { return s.text[s.from:s.to] }

func (s span) kind() string { return jsonwire.Text(s.raw()).Kind() }
