package jsonwire

import (
	"bytes"
	"encoding/json"
)

// Indented returns the text with an indentation of two blanks per level.
func (t Text) Indented() []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, t, "", "  "); err != nil {
		panic("jsonwire: a text is not JSON: " + err.Error())
	}
	return b.Bytes()
}

// IndentedSize returns the size of [Text.Indented] in bytes. It grows quickly with the depth: n levels need about n²
// blanks.
func (t Text) IndentedSize() int {
	size, depth := len(t), 0
	for at := 0; at < len(t); at++ {
		switch c := t[at]; c {
		case '"':
			at = SkipString(t, at) - 1
		case ':':
			size++
		case '{', '[':
			if c := t[at+1]; c == '}' || c == ']' { // an empty object or array stays on one line
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
