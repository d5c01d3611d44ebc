// Package arguments reads the arguments of a tool call.
package arguments

import (
	"encoding/json"

	"golang.org/x/text/encoding/unicode"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Errors make the errors about the argument with a name.
type Errors struct{ Missing, Invalid func(name string) error }

// Arguments are the arguments of one call, and the first error in them. Null counts as missing.
type Arguments struct {
	Err    error
	values map[string]jsonwire.Text
	errors Errors
}

// Parse returns the arguments in a JSON object.
func Parse(object json.RawMessage, errors Errors) *Arguments {
	return &Arguments{values: jsonwire.Present(object), errors: errors}
}

// Fail records an error, unless there already is one.
func (a *Arguments) Fail(err error) {
	if a.Err == nil {
		a.Err = err
	}
}

// Has reports whether an argument is present.
func (a *Arguments) Has(name string) bool { return a.values[name] != nil }

// Value returns an argument of any kind, or nil if it is missing.
func (a *Arguments) Value(name string) jsonwire.Text { return a.values[name] }

// Get returns an argument of the given kind, or nil if it is missing.
func (a *Arguments) Get(name, kind string) jsonwire.Text {
	value := a.values[name]
	if value != nil && value.Kind() != kind {
		a.Invalid(name)
		return nil
	}
	return value
}

// Invalid records that an argument is invalid.
func (a *Arguments) Invalid(name string) { a.Fail(a.errors.Invalid(name)) }

// Need returns a required string.
func (a *Arguments) Need(name string) string {
	if !a.Has(name) {
		a.Fail(a.errors.Missing(name))
	}
	return a.Text(name)
}

// Text returns a string, or "" if it is missing.
func (a *Arguments) Text(name string) string {
	if text := a.MaybeText(name); text != nil {
		return *text
	}
	return ""
}

// MaybeText returns a string, or nil if it is missing. A lone surrogate becomes U+FFFD.
func (a *Arguments) MaybeText(name string) *string {
	value := a.Get(name, "string")
	if value == nil {
		return nil
	}
	return new(UTF8(value.Str()))
}

// UTF8 replaces invalid UTF-8 by U+FFFD.
func UTF8(text string) string {
	valid, err := unicode.UTF8.NewDecoder().String(text)
	if err != nil {
		return text
	}
	return valid
}

// Integer returns a number that must be an integer by value, or nil if it is missing.
func (a *Arguments) Integer(name string) *int64 {
	value := a.Get(name, "number")
	if value == nil {
		return nil
	}
	n, ok := value.Integer()
	if !ok {
		a.Invalid(name)
		return nil
	}
	return &n
}

// Bool returns a boolean, or false if it is missing.
func (a *Arguments) Bool(name string) bool { return string(a.Get(name, "boolean")) == "true" }
