package agentsdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// members yields the members of a JSON object in their order, as parts of it: nothing is copied, however large a value
// is. It yields nothing for another value. The text must be valid JSON.
func members(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		rest := trim(object)
		if len(rest) == 0 || rest[0] != '{' {
			return
		}
		for rest = rest[1:]; ; {
			rest = trim(rest)
			if len(rest) == 0 || rest[0] == '}' {
				return
			}
			var key, value json.RawMessage
			key, rest = cutValue(rest)
			value, rest = cutValue(trim(rest))
			name, _ := viewOf(key)
			if !yield(name, value) {
				return
			}
		}
	}
}

// elements yields the elements of a JSON array, as members does.
func elements(array json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		rest := trim(array)
		if len(rest) == 0 || rest[0] != '[' {
			return
		}
		for rest = rest[1:]; ; {
			rest = trim(rest)
			if len(rest) == 0 || rest[0] == ']' {
				return
			}
			var value json.RawMessage
			value, rest = cutValue(rest)
			if !yield(value) {
				return
			}
		}
	}
}

// trim cuts valid JSON before its next value, or before the end of an object or array.
func trim(text []byte) []byte {
	for i, c := range text {
		switch c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return text[i:]
		}
	}
	return nil
}

// cutValue cuts valid JSON after its first value.
func cutValue(text []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\t', '\r', '\n', ',', ':':
			continue
		default:
			for i+1 < len(text) && strings.IndexByte(" \t\r\n,:]}", text[i+1]) < 0 {
				i++
			}
		}
		if depth <= 0 {
			return text[:i+1], text[i+1:]
		}
	}
	return text, nil
}

// endOfString returns the index of the quote that ends the string at i.
func endOfString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return len(text) - 1
		}
		slashes := 0
		for i += next; text[i-1-slashes] == '\\'; slashes++ {
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return len(text) - 1
}

// largeString is from where a string shares the memory of its line, which its message keeps anyway.
const largeString = 64 << 10

// stringOf returns the value of a JSON string.
func stringOf(value json.RawMessage) (string, bool) {
	s, ok := viewOf(value)
	if len(s) < largeString {
		s = strings.Clone(s)
	}
	return s, ok
}

// viewOf is stringOf for a short time: if the string has no escapes, its value is a part of the line, which nothing changes
// after it was read.
func viewOf(value json.RawMessage) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return unsafe.String(unsafe.SliceData(inner), len(inner)), true
	}
	var s string
	err := json.Unmarshal(value, &s) // it replaces invalid UTF-8
	return s, err == nil
}

// kindOf returns what begins a JSON value: one of { [ " t f n and - for all numbers; 0 for no value.
func kindOf(value json.RawMessage) byte {
	switch {
	case len(value) == 0:
		return 0
	case value[0] >= '0' && value[0] <= '9':
		return '-'
	}
	return value[0]
}

// missing reports whether a member is absent or null.
func missing(value json.RawMessage) bool { return kindOf(value) == 0 || kindOf(value) == 'n' }

// encode returns JSON with <, > and & as they are.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// shorten returns at most 200 bytes of a line, for a warning.
func shorten(line []byte) string {
	if len(line) > 200 {
		return fmt.Sprintf("%q and %d more bytes", line[:200], len(line)-200)
	}
	return fmt.Sprintf("%q", line)
}
