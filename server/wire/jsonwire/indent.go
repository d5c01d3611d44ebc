package jsonwire

import (
	"bytes"
	"encoding/json"
)

// Indented returns the text with two blanks for each level.
func (t Text) Indented() []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, t, "", "  "); err != nil {
		panic("jsonwire: a text is not JSON: " + err.Error())
	}
	return b.Bytes()
}

// IndentedSize returns how many bytes [Text.Indented] has. Depth makes them many: n levels need some n² blanks.
func (t Text) IndentedSize() int {
	size, depth := len(t), 0
	for at := 0; at < len(t); at++ {
		switch c := t[at]; c {
		case '"':
			at = SkipString(t, at) - 1
		case ':':
			size++
		case '{', '[':
			if c := t[at+1]; c == '}' || c == ']' { // nothing comes between them
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
