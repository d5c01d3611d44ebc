// Package jsonwire reads and writes JSON in the form that the wire requires (CT 3.1, 3.4): as JavaScript would, but
// without changing numbers.
//
// A body is read in two steps. [Parse] makes any JSON text canonical: no blanks, the shortest escapes, one member per
// name. Everything else works on the canonical [Text], which can be walked, bound to Go values, and sent unchanged.
// It still has the sender's key order and digits.
//
// JSON can contain a lone surrogate ("\ud800") and must return it. Go strings cannot, so strings that this package
// reads have the three bytes that UTF-8 would use if it allowed surrogates (WTF-8). When it writes a string, it turns
// these bytes back into the escape.
package jsonwire

import (
	"bytes"
	"iter"
	"math"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// A Text is one JSON value in canonical form. Only [Parse] and [Marshal] create texts, and the methods rely on the
// form.
type Text []byte

// Kind returns the type of the value as JavaScript validators name it: null, boolean, number, string, array or
// object. A nil Text, which is a missing value, is undefined.
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

// Str returns the decoded string of a string value, or "" for any other value.
func (t Text) Str() string {
	if t.Kind() != "string" {
		return ""
	}
	return unquote(t)
}

// Elements yields the elements of an array with their indexes. Other values have none.
func (t Text) Elements() iter.Seq2[int, Text] {
	return func(yield func(int, Text) bool) {
		if t.Kind() != "array" {
			return
		}
		for i, at := 0, 1; t[at] != ']'; i++ {
			end := SkipValue(t, at)
			if !yield(i, t[at:end:end]) {
				return
			}
			at = afterComma(t, end)
		}
	}
}

// Members yields the members of an object. Names are string values. Other values have none.
func (t Text) Members() iter.Seq2[Text, Text] {
	return func(yield func(Text, Text) bool) {
		if t.Kind() != "object" {
			return
		}
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

// Get returns the value of the named member of an object, or nil if it is missing. See [Text.Pick].
func (t Text) Get(name string) Text { return t.Pick(name)[0] }

// Pick returns the values of the named members of an object, in the order of the names, with nil for missing ones.
// The names are matched exactly, and must need no escapes.
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

// Present returns the members of an object that are not null, by name. It returns an empty map for anything else.
func Present(json []byte) map[string]Text {
	members := map[string]Text{}
	object, _ := Parse(json)
	for name, value := range object.Members() {
		if value.Kind() != "null" {
			members[name.Str()] = value
		}
	}
	return members
}

// Object returns an object with the named values, without those that are nil. The names must need no escapes.
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

// Strings yields the start and end of every string in a value, at any depth, including member names, which a colon
// follows. It reads each byte once, unlike nested calls of [Text.Members].
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

// decodeUTF8 removes a byte order mark, and replaces each maximal invalid part by U+FFFD, as in the Encoding Standard
// (WHATWG Encoding 8.1.1). Go's own conversions insert one U+FFFD for each byte, or for each run of bytes.
func decodeUTF8(b []byte) ([]byte, error) {
	b = bytes.TrimPrefix(b, bom)
	if utf8.Valid(b) {
		return b, nil
	}
	return unicode.UTF8.NewDecoder().Bytes(b)
}

// Integer returns the integer value of a number: 1e3 and 1000.0 are 1000 (decision S9). Numbers are doubles: digits
// beyond their precision are ignored, and ok is false for a number beyond their range. A number beyond ±(2⁶³−1)
// counts as that limit.
func (t Text) Integer() (n int64, ok bool) {
	if t.Kind() != "number" {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(t), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= -math.MaxInt64:
		return -math.MaxInt64, true
	}
	return int64(f), true
}
