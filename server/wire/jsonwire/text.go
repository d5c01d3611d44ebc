// Package jsonwire reads and writes JSON the way the wire asks for it (CT 3.1, 3.4): as JavaScript would, without its
// damage to numbers.
//
// A body is read in two steps. [Parse] makes any JSON text canonical: no blanks, the shortest escapes, one member per
// name. Everything after that works on the canonical [Text], which can be walked, bound to Go values and sent on as it
// is: key order and the digits of numbers are still those of the sender.
//
// JSON can hold half a surrogate pair ("\ud800") and has to give it back. Go strings cannot, so strings that were read
// by this package hold it in the three bytes that UTF-8 would use if it allowed surrogates (WTF-8), and strings that
// are written by it turn those bytes back into the escape.
package jsonwire

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// A Text is one JSON value in canonical form. Only [Parse] and [Marshal] make texts; the methods rely on the form.
type Text []byte

// Kind names the type of the value as JavaScript's validators do: null, boolean, number, string, array or object, and
// undefined for the nil Text, a value that is not there.
func (t Text) Kind() string {
	if len(t) == 0 {
		return "undefined"
	}
	switch t[0] {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	return "number"
}

// Str returns the string of a string value, without its escapes.
func (t Text) Str() string { return unquote(t) }

// Elements yields the elements of an array with their indexes.
func (t Text) Elements() iter.Seq2[int, Text] {
	return func(yield func(int, Text) bool) {
		for i, at := 0, 1; t[at] != ']'; i++ {
			end := SkipValue(t, at)
			if !yield(i, t[at:end:end]) {
				return
			}
			at = afterComma(t, end)
		}
	}
}

// Members yields the members of an object. Names are string values.
func (t Text) Members() iter.Seq2[Text, Text] {
	return func(yield func(Text, Text) bool) {
		for at := 1; t[at] != '}'; {
			colon := SkipValue(t, at)
			end := SkipValue(t, colon+1)
			if !yield(t[at:colon:colon], t[colon+1:end:end]) {
				return
			}
			at = afterComma(t, end)
		}
	}
}

// Pick returns the values of the named members of an object, in the order of the names, nil for those it has not. The
// names are matched exactly and must need no escape.
func (t Text) Pick(names ...string) []Text {
	found := make([]Text, len(names))
	for name, value := range t.Members() {
		for i, want := range names {
			if len(name) == len(want)+2 && string(name[1:len(name)-1]) == want {
				found[i] = value
			}
		}
	}
	return found
}

// Present returns the members of an object that are not null, by their names. It is empty if the JSON is something else.
func Present(json []byte) map[string]Text {
	members := map[string]Text{}
	object, err := Parse(json)
	if err != nil || object.Kind() != "object" {
		return members
	}
	for name, value := range object.Members() {
		if value.Kind() != "null" {
			members[name.Str()] = value
		}
	}
	return members
}

// Object returns an object of the named values, without those that are nil. The names must need no escape.
func Object(names []string, values []Text) Text {
	object := Text{'{'}
	for i, value := range values {
		if value == nil {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(object, '"')
		object = append(object, names[i]...)
		object = append(object, '"', ':')
		object = append(object, value...)
	}
	return append(object, '}')
}

func afterComma(t Text, at int) int {
	if t[at] == ',' {
		at++
	}
	return at
}

// Strings yields where the strings of a value begin and end, however deep they are: the names of members, too, which have a
// colon behind them. Each byte is looked at once, unlike by going down through [Text.Members].
func (t Text) Strings() iter.Seq2[int, int] {
	return func(yield func(from, end int) bool) {
		for end := 0; ; {
			next := bytes.IndexByte(t[end:], '"')
			if next < 0 {
				return
			}
			from := end + next
			if end = SkipString(t, from); !yield(from, end) {
				return
			}
		}
	}
}

var bom = []byte("\uFEFF")

// decodeUTF8 returns the text without its byte order mark and with U+FFFD for each maximal part of it that is not
// UTF-8, which is how the Encoding Standard decodes (WHATWG Encoding 8.1.1). Go's own conversions put one U+FFFD for
// each byte or for each run of bytes.
func decodeUTF8(b []byte) ([]byte, error) {
	b = bytes.TrimPrefix(b, bom)
	if utf8.Valid(b) {
		return b, nil
	}
	return unicode.UTF8.NewDecoder().Bytes(b)
}
