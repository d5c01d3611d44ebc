// Package decode reads JSON into the types of the goose-server family, and reports exactly what is wrong with it
// (GA 2.5).
//
// [Parse] checks whether a text is JSON at all. The decoders of the domain types then walk the [Value], and name the
// fields that they want: see [Object]. There are two kinds of errors, because they lead to different statuses: a
// [*SyntaxError] and a [*ShapeError].
package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Value is one JSON value in a valid text. It records its position for error messages. The zero Value is a missing
// value.
type Value struct {
	text     []byte // the whole text
	from, to int    // its place in the text

	parent *Value
	key    string // its name in the parent, if that is an object
	index  int    // its index in the parent, if that is an array
}

// A SyntaxError says that a text is not JSON. It does not say where and why, because every parser would report
// something different (decision G1).
type SyntaxError struct{}

func (*SyntaxError) Error() string { return "invalid JSON" }

// A ShapeError says that a text is JSON, but not of the expected form.
type ShapeError struct {
	Path   string // the place, such as messages[0].content; "" for the whole text
	Reason string // such as "missing field `role`"
	// Line and Column are the place of the last byte of the wrong value. Both start at 1, and Column counts bytes.
	Line, Column int
}

func (e *ShapeError) Error() string {
	where := fmt.Sprintf("%s at line %d column %d", e.Reason, e.Line, e.Column)
	if e.Path == "" {
		return where
	}
	return e.Path + ": " + where
}

// Parse returns the one value of a text. The text must be valid UTF-8 without a byte order mark, and its escapes must
// not have lone surrogates (decision G1). The error is a [*SyntaxError]. The text must not change while the value is
// in use.
func Parse(text []byte) (Value, error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	raw, err := in.ReadValue()
	if err != nil {
		return Value{}, &SyntaxError{}
	}
	to := int(in.InputOffset())
	if _, err := in.ReadToken(); err != io.EOF || tooDeep(text[:to]) {
		return Value{}, &SyntaxError{}
	}
	return Value{text: text, from: to - len(raw), to: to}, nil
}

// Text decodes a whole text with the decoder of a type.
func Text[T any](text []byte, decode func(Value) (T, error)) (result T, err error) {
	v, err := Parse(text)
	if err != nil {
		return result, err
	}
	return decode(v)
}

// maxDepth is the maximum depth of package jsonwire, so that every value can be kept (decision S27).
const maxDepth = 9000

// tooDeep reports whether the text is nested too deeply.
func tooDeep(text []byte) bool {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = jsonwire.SkipString(text, at) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// Exists reports whether there is a value; null is one.
func (v Value) Exists() bool { return v.to > v.from }

// IsNull reports whether the value is null or missing.
func (v Value) IsNull() bool { return !v.Exists() || v.text[v.from] == 'n' }

// Size returns the size of the value in the original text, in bytes.
func (v Value) Size() int { return v.to - v.from }

func (v Value) raw() []byte { return v.text[v.from:v.to] }

func (v Value) kind() string { return jsonwire.Text(v.raw()).Kind() }

// lineColumn returns the line and column of the byte before end.
func lineColumn(text []byte, end int) (line, column int) {
	before := text[:min(end, len(text))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - (bytes.LastIndexByte(before, '\n') + 1)
}

// Fail returns an error about the value.
func (v Value) Fail(reason string) error { return v.failAt(v.to, reason) }

func (v Value) failAt(end int, reason string) error {
	e := &ShapeError{Path: v.path(), Reason: reason}
	e.Line, e.Column = lineColumn(v.text, end)
	return e
}

func (v Value) path() string {
	var steps []string
	for at := &v; at.parent != nil; at = at.parent {
		step := "." + excerpt.Quoted(at.key)
		if at.parent.kind() == "array" {
			step = "[" + strconv.Itoa(at.index) + "]"
		}
		steps = append(steps, step)
	}
	var path strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		path.WriteString(steps[i])
	}
	return strings.TrimPrefix(path.String(), ".")
}

// want returns an error unless the value has the given JSON type.
func (v Value) want(kind string) error {
	if v.kind() == kind {
		return nil
	}
	article := "a "
	if kind == "array" || kind == "object" {
		article = "an "
	}
	return v.wrongType(article + kind)
}

func (v Value) wrongType(expected string) error {
	return v.Fail("invalid type: " + v.kind() + ", expected " + expected)
}

// Str decodes a string.
func (v Value) Str() (string, error) {
	if err := v.want("string"); err != nil {
		return "", err
	}
	return jsonwire.Text(v.raw()).Str(), nil
}

// Bool decodes a boolean.
func (v Value) Bool() (bool, error) { return v.text[v.from] == 't', v.want("boolean") }

// Int decodes a 64-bit integer, which must be written without fraction and exponent (decision G2).
func (v Value) Int() (int64, error) {
	if v.kind() != "number" || bytes.ContainsAny(v.raw(), ".eE") {
		return 0, v.wrongType("an integer")
	}
	n, err := strconv.ParseInt(string(v.raw()), 10, 64)
	if err != nil {
		return 0, v.Fail("invalid value: integer out of range")
	}
	return n, nil
}

// Number decodes a number with its digits. A double must be able to hold it.
func (v Value) Number() (json.Number, error) {
	if err := v.want("number"); err != nil {
		return "", err
	}
	if _, err := strconv.ParseFloat(string(v.raw()), 64); err != nil {
		return "", v.Fail("invalid value: number out of range")
	}
	return json.Number(v.raw()), nil
}

// Any returns the value in canonical form: without blanks, and with each name once. Of members with the same name,
// the last value takes the place of the first.
func (v Value) Any() json.RawMessage {
	canonical, err := jsonwire.Parse(v.raw())
	if err != nil {
		panic(fmt.Sprintf("decode: a part of valid JSON is not: %v", err))
	}
	return json.RawMessage(canonical)
}
