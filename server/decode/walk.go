package decode

import (
	"bytes"
	"iter"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// Array returns the elements of an array.
func (v Value) Array() (iter.Seq[Value], error) {
	if err := v.want("array"); err != nil {
		return nil, err
	}
	return v.elements(), nil
}

func (v Value) elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		parent := &v
		at := skipBlank(v.text, v.from+1)
		for i := 0; v.text[at] != ']'; i++ {
			end := skipValue(v.text, at)
			if !yield(Value{text: v.text, from: at, to: end, parent: parent, index: i}) {
				return
			}
			at = skipComma(v.text, end)
		}
	}
}

// Members yields the members of an object in the order of the text, repeated ones too, and nothing of another value.
func (v Value) Members() iter.Seq2[string, Value] {
	if v.kind() != "object" {
		return func(func(string, Value) bool) {}
	}
	return v.members()
}

// members yields the members of an object.
func (v Value) members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		parent := &v
		at := skipBlank(v.text, v.from+1)
		for v.text[at] != '}' {
			nameEnd := skipString(v.text, at)
			name := jsonwire.Text(v.text[at:nameEnd]).Str()
			from := skipBlank(v.text, skipBlank(v.text, nameEnd)+1)
			to := skipValue(v.text, from)
			if !yield(name, Value{text: v.text, from: from, to: to, parent: parent, key: name}) {
				return
			}
			at = skipComma(v.text, to)
		}
	}
}

func skipBlank(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r' {
		at++
	}
	return at
}

func skipComma(text []byte, at int) int {
	at = skipBlank(text, at)
	if text[at] == ',' {
		at = skipBlank(text, at+1)
	}
	return at
}

// skipValue returns where the value that starts at the given place ends.
func skipValue(text []byte, at int) int {
	depth := 0
	for {
		switch text[at] {
		case '"':
			at = skipString(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\n', '\r':
			at++
			continue // never the end of a value
		default:
			at = skipWord(text, at)
		}
		if depth == 0 {
			return at
		}
	}
}

// skipString looks for quotes alone, which is fast where they are rare: in a text of many megabytes.
func skipString(text []byte, at int) int {
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
