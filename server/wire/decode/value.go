// Package decode reads JSON into the types of the goose-server family, and says exactly what is wrong with it (GA 2.5).
//
// [Parse] finds out whether a text is JSON at all. What it returns is walked by the decoders of the domain types, each of
// which names the fields it wants: see [Object]. Two kinds of mistake come out of it, because they have different
// statuses: a [*SyntaxError] and a [*ShapeError].
package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Value is one JSON value inside a valid text. It records its position for error messages. The zero Value is one that does
// not exist.
type Value struct {
	span

	parent *Value
	key    string // its name in the parent, if that is an object
	index  int    // its place in the parent, if that is an array
}

// A SyntaxError says that a text is not JSON. It does not say where and why: every parser would say something else
// (decision G1).
type SyntaxError struct{}

func (*SyntaxError) Error() string { return "invalid JSON" }

// A ShapeError says that a text is JSON but not what it should be.
type ShapeError struct {
	Path   string // where, such as messages[0].content; empty for the whole text
	Reason string // what, such as "missing field `role`"
	// Line and Column, both from 1 and the column in bytes, are those of the last byte of what is wrong.
	Line, Column int
}

func (e *ShapeError) Error() string {
	where := fmt.Sprintf("%s at line %d column %d", e.Reason, e.Line, e.Column)
	if e.Path == "" {
		return where
	}
	return e.Path + ": " + where
}

// Parse returns the one value that a text holds, which must be valid UTF-8 without a byte order mark and must not have
// half surrogate pairs among its escapes (decision G1). The error is a [*SyntaxError]. The text must not be changed as
// long as the value is in use.
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
	return Value{span: span{text, to - len(raw), to}}, nil
}

// Text reads a whole text with the decoder of its type.
func Text[T any](text []byte, decode func(Value) (T, error)) (result T, err error) {
	v, err := Parse(text)
	if err != nil {
		return result, err
	}
	return decode(v)
}

// maxDepth is the depth that package jsonwire takes, so that every value can be kept (decision S27).
const maxDepth = 9000

// tooDeep says whether there is a bracket that is too deep.
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

// lineColumn names the place of the byte before end.
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

// want fails unless the value is of a kind, which is a word of JSON's.
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

// Str returns a string.
func (v Value) Str() (string, error) {
	if err := v.want("string"); err != nil {
		return "", err
	}
	return jsonwire.Text(v.raw()).Str(), nil
}

// Bool returns true or false.
func (v Value) Bool() (bool, error) { return v.text[v.from] == 't', v.want("boolean") }

// Int returns an integer of 64 bits, which has neither a fraction nor an exponent (decision G2).
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

// Natural returns an integer that is not negative.
func Natural(v Value) (int64, error) { return Within(0, math.MaxInt64)(v) }

// Within returns the decoder of integers from least to most.
func Within(least, most int64) func(Value) (int64, error) {
	return func(v Value) (int64, error) {
		n, err := v.Int()
		if err == nil && (n < least || n > most) {
			return 0, v.Fail("invalid value: integer out of range")
		}
		return n, err
	}
}

// dateTime is the form of RFC 3339 §5.6, with the blank that its note allows. Package time takes commas, and no small
// letters.
var dateTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)

var errNoTime = errors.New("not a date and time")

// Time returns a moment, written as RFC 3339 says.
func (v Value) Time() (time.Time, error) {
	text, err := v.Str()
	if err != nil {
		return time.Time{}, err
	}
	var t time.Time
	if err = errNoTime; dateTime.MatchString(text) {
		t, err = time.Parse(time.RFC3339Nano, strings.ToUpper(strings.Replace(text, " ", "T", 1)))
	}
	t = t.UTC()
	if err != nil || t.Year() < 0 || t.Year() > 9999 { // what is written must be one, too
		return time.Time{}, v.Fail("invalid value: not a date and time of RFC 3339")
	}
	return t, nil
}

// Number returns a number with its digits. It must be one that a double can hold.
func (v Value) Number() (json.Number, error) {
	if err := v.want("number"); err != nil {
		return "", err
	}
	if _, err := strconv.ParseFloat(string(v.raw()), 64); err != nil {
		return "", v.Fail("invalid value: number out of range")
	}
	return json.Number(v.raw()), nil
}

// Any returns the value as it is, in canonical form: without blanks, of members with one name the last one's value in
// the first one's place.
func (v Value) Any() json.RawMessage {
	canonical, err := jsonwire.Parse(v.raw())
	if err != nil {
		panic(fmt.Sprintf("decode: a part of valid JSON is not: %v", err))
	}
	return json.RawMessage(canonical)
}

// Tag returns the field that says what an object is.
func (v Value) Tag(name string, variants ...string) (string, error) {
	o := v.Object(name)
	return o.OneOf(name, variants...), o.Err()
}

// IsTagged says whether the field that says what an object is has this value.
func (v Value) IsTagged(name, variant string) bool {
	tag := v.Object(name).Get(name)
	return tag.Exists() && tag.kind() == "string" && jsonwire.Text(tag.raw()).Str() == variant
}

// OneOf returns a string that must be one of some.
func (v Value) OneOf(variants ...string) (string, error) {
	got, err := v.Str()
	if err != nil {
		return "", err
	}
	for _, variant := range variants {
		if got == variant {
			return got, nil
		}
	}
	quoted := make([]string, len(variants))
	for i, variant := range variants {
		quoted[i] = "`" + variant + "`"
	}
	return "", v.Fail("unknown variant `" + excerpt.Quoted(got) + "`, expected one of " + strings.Join(quoted, ", "))
}
