package jsonwire

import "bytes"

// SkipValue returns the end of the value that starts at the given index of valid JSON, which may have blanks.
func SkipValue(text []byte, at int) int {
	depth := 0
	for {
		switch text[at] {
		case '"':
			at = SkipString(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\n', '\r':
			at++
			continue // a separator never ends a value
		default:
			at = skipWord(text, at)
		}
		if depth == 0 {
			return at
		}
	}
}

// SkipString returns the end of the string whose opening quote is at the given index. It only searches for quotes,
// which is fast in texts of many megabytes where quotes are rare.
func SkipString(text []byte, at int) int {
	start := at + 1
	for at = start; ; at++ {
		at += bytes.IndexByte(text[at:], '"')
		backslashes := at
		for backslashes > start && text[backslashes-1] == '\\' {
			backslashes--
		}
		if (at-backslashes)%2 == 0 { // the quote is not escaped
			return at + 1
		}
	}
}

func skipWord(text []byte, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return at
		}
	}
	return at
}
