package decode

import "github.com/lockstep-dev/lockstep/server/wire/jsonwire"

// A span is where a value is in its text.
type span struct {
	text     []byte // all of it
	from, to int
}

// Exists reports whether there is a value at all, even null.
func (s span) Exists() bool { return s.to > s.from }

// IsNull reports whether the value is null, or does not exist.
func (s span) IsNull() bool { return !s.Exists() || s.text[s.from] == 'n' }

// Size returns how many bytes the value has, as it came.
func (s span) Size() int { return s.to - s.from }

func (s span) raw() []byte { return s.text[s.from:s.to] }

func (s span) kind() string { return jsonwire.Text(s.raw()).Kind() }
