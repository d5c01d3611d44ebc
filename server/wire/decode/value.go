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

// A Value is one JSON value in a valid text. It records its position for error messages. The zero Value is a missing
// value.
type Value struct {
	span

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
	return Value{span: span{text, to - len(raw), to}}, nil
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

// Natural decodes an integer that is not negative.
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

// dateTime is the format of RFC 3339 §5.6, with the blank that its note allows. Package time alone would accept
// commas, and no lower-case letters.
var dateTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)

var errNoTime = errors.New("not a date and time")

// Time decodes a time in the format of RFC 3339.
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
	if err != nil || t.Year() < 0 || t.Year() > 9999 { // the time must have this format again when it is written
		return time.Time{}, v.Fail("invalid value: not a date and time of RFC 3339")
	}
	return t, nil
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

// Tag returns the field that says which variant an object is.
func (v Value) Tag(name string, variants ...string) (string, error) {
	o := v.Object(name)
	return o.OneOf(name, variants...), o.Err()
}

// IsTagged reports whether an object is the given variant.
func (v Value) IsTagged(name, variant string) bool {
	tag := v.Object(name).Get(name)
	return tag.Exists() && tag.kind() == "string" && jsonwire.Text(tag.raw()).Str() == variant
}

// OneOf decodes a string that must be one of the variants.
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
