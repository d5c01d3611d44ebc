package body

// maxValues is how many values the JSON of a body may have (decision S51).
const maxValues = 1_000_000

// tooManyValues counts in a text that need not be JSON. It costs no memory, unlike to parse the text.
func tooManyValues(text []byte) bool {
	if len(text) <= 2*maxValues { // a value has a byte at least, and one more stands between it and the next
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

// lastOfString returns where the string that starts at the given place has its last byte.
func lastOfString(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// closes says whether the first byte that is no blank ends an object or array.
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
