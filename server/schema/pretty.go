package schema

import (
	"bytes"
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// maxPretty is how many bytes the text of a schema may have that is indented.
const maxPretty = 64 << 10

// Shown returns the schema for a model to read: with two blanks for each level, or compactly if that would be too long.
func (s *Schema) Shown() string {
	if prettySize(jsonwire.Text(s.text)) > maxPretty {
		return string(s.text)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, s.text, "", "  "); err != nil {
		return string(s.text)
	}
	return b.String()
}

// prettySize returns how many bytes an indented text has.
func prettySize(text jsonwire.Text) int {
	size, depth := len(text), 0
	for at := 0; at < len(text); at++ {
		switch c := text[at]; c {
		case '"':
			at = text.EndOfString(at) - 1
		case ':':
			size++
		case '{', '[':
			if c := text[at+1]; c == '}' || c == ']' { // nothing comes between them
				at++
				continue
			}
			depth++
			size += 1 + 2*depth
		case '}', ']':
			depth--
			size += 1 + 2*depth
		case ',':
			size += 1 + 2*depth
		}
	}
	return size
}
