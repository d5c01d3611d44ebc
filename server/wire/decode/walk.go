package decode

import (
	"iter"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Array returns the elements of an array.
func (v Value) Array() (iter.Seq[Value], error) {
	if err := v.want("array"); err != nil {
		return nil, err
	}
	return elements(v), nil
}

func elements(v Value) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		parent := &v
		at := skipBlank(v.text, v.from+1)
		for i := 0; v.text[at] != ']'; i++ {
			end := jsonwire.SkipValue(v.text, at)
			if !yield(Value{text: v.text, from: at, to: end, parent: parent, index: i}) {
				return
			}
			at = skipComma(v.text, end)
		}
	}
}

// Members yields the members of an object in the order of the text, including duplicates. It yields nothing for other
// values.
func (v Value) Members() iter.Seq2[string, Value] {
	if v.kind() != "object" {
		return func(func(string, Value) bool) {}
	}
	return members(v)
}

// members yields the members of an object.
func members(v Value) iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		parent := &v
		at := skipBlank(v.text, v.from+1)
		for v.text[at] != '}' {
			nameEnd := jsonwire.SkipString(v.text, at)
			name := jsonwire.Text(v.text[at:nameEnd]).Str()
			from := skipBlank(v.text, skipBlank(v.text, nameEnd)+1)
			to := jsonwire.SkipValue(v.text, from)
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
