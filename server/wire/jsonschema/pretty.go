package jsonschema

import "github.com/lockstep-dev/lockstep/server/wire/jsonwire"

// maxPretty is how many bytes the text of a schema may have that is indented.
const maxPretty = 64 << 10

// Shown returns the schema for a model to read: with two blanks for each level, or compactly if that would be too long.
func (s *Schema) Shown() string {
	text := jsonwire.Text(s.text)
	if text.IndentedSize() > maxPretty {
		return string(s.text)
	}
	return string(text.Indented())
}
