package body

// maxValues is the maximum number of values in the JSON of a body (decision S51).
const maxValues = 1_000_000

// tooManyValues counts the values in a text that may not be JSON. Unlike parsing, it needs no memory.
func tooManyValues(text []byte) bool {
	if len(text) <= 2*maxValues { // each value has at least one byte and a separator
		return false
	}
	values := 1
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = lastOfString(text, at)
		case ',':
			values++
		case '{', '[':
			if !closes(text[at+1:]) {
				values++
			}
		}
	}
	return values > maxValues
}

// lastOfString returns the index of the last byte of the string that starts at the given index.
func lastOfString(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// closes reports whether the first non-blank byte ends an object or array.
func closes(text []byte) bool {
	for _, b := range text {
		switch b {
		case ' ', '\t', '\r', '\n':
		default:
			return b == '}' || b == ']'
		}
	}
	return false
}
