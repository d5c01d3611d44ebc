package redact

import (
	"bytes"
	"unicode/utf8"
)

// Some characters of a notation mean nothing: every second byte of ASCII in UTF-16, and a line end that only breaks a
// long line.

// readMark calls readIgnored or readEscape, depending on the marks.
func readMark(text []byte, at int, marks string, out []byte) (char []byte, width int) {
	if marks == ignoredMarks || marks == quotedPrintableMarks {
		return readIgnored(text, at, out)
	}
	return readEscape(text[at:], out)
}

// readIgnored reads an ignored character at an index of a text, or an octet of quoted-printable. It returns the length,
// or 0 when there is none.
func readIgnored(text []byte, at int, out []byte) (char []byte, width int) {
	rest := text[at+1:]
	switch text[at] {
	case 0: // one of many; a single one can be any byte of an image
		const around = 5
		if bytes.Count(text[max(0, at-around):min(len(text), at+around+1)], []byte{0}) >= 3 {
			return out, 1
		}
	case '=': // RFC 2045 §6.7
		if n := lineBreak(rest); n > 0 {
			return out, 1 + n
		}
		before, _ := utf8.DecodeLastRune(text[:at])
		behind, _ := utf8.DecodeRune(text[min(at+3, len(text)):])
		if at > 0 && before == utf8.RuneError || at+3 < len(text) && behind == utf8.RuneError {
			return nil, 0 // not a text
		}
		return readEscape(text[at:], out)
	case '\\': // in YAML, shells, C and JavaScript, it continues the line
		if n := lineBreak(rest); n > 0 {
			return out, 1 + n + blanks(rest[n:])
		}
	default: // Base64 in an indented text, such as YAML
		if at == 0 || !isBase64(text[at-1]) {
			return nil, 0
		}
		n := lineBreak(text[at:])
		m := blanks(text[at+n:])
		if n > 0 && m > 0 && at+n+m < len(text) && isBase64(text[at+n+m]) {
			return out, n + m
		}
	}
	return nil, 0
}

// isBase64 reports whether a character is a digit of Base64.
func isBase64(c byte) bool { return byteEncodings[0].value[c] < ignored }

// lineBreak returns the length of the line break at the beginning of a text.
func lineBreak(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")):
		return 2
	case bytes.HasPrefix(text, []byte("\n")):
		return 1
	}
	return 0
}

// blanks returns how many spaces and tabs a text begins with.
func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t")) }
