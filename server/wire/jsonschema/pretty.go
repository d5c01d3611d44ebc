package jsonschema

import "github.com/lockstep-dev/lockstep/server/wire/jsonwire"

// maxPretty is the maximum size in bytes of an indented schema.
const maxPretty = 64 << 10

// Shown returns the schema as a model should read it: indented by two blanks per level, or compact if that would be
// too long.
func (s *Schema) Shown() string {
	text := jsonwire.Text(s.text)
	if text.IndentedSize() > maxPretty {
		return string(s.text)
	}
	return string(text.Indented())
}
