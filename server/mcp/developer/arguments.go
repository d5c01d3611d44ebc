package developer

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// arguments are the arguments of a tool call, and the first error in them. Null counts as missing.
type arguments struct {
	values map[string]jsonwire.Text
	wrong  error
}

func argumentsOf(raw json.RawMessage) *arguments {
	return &arguments{values: jsonwire.Present(raw)}
}

func (a *arguments) note(reason, name string) {
	if a.wrong == nil {
		a.wrong = invalid("failed to deserialize parameters: %s `%s`", reason, name)
	}
}

// get returns an argument of the given kind, and false if it is missing.
func (a *arguments) get(name, kind string) (value jsonwire.Text, there bool) {
	if value, there = a.values[name]; there && value.Kind() != kind {
		a.note("invalid type of", name)
		return nil, false
	}
	return value, there
}

// text returns a required string argument.
func (a *arguments) text(name string) string {
	if _, there := a.values[name]; !there {
		a.note("missing field", name)
	}
	text := a.maybeText(name)
	if text == nil {
		return ""
	}
	return *text
}

// maybeText returns a string argument, or nil if it is missing.
func (a *arguments) maybeText(name string) *string {
	value, there := a.get(name, "string")
	if !there {
		return nil
	}
	text := utf8(value.Str())
	return &text
}

// integer returns an argument that must be an integer by value, or nil if it is missing.
func (a *arguments) integer(name string) *int64 {
	value, there := a.get(name, "number")
	if !there {
		return nil
	}
	n, ok := value.Integer()
	if !ok {
		a.note("invalid type of", name)
		return nil
	}
	return &n
}

// boolean returns a boolean argument, or false if it is missing.
func (a *arguments) boolean(name string) bool {
	value, there := a.get(name, "boolean")
	return there && string(value) == "true"
}

// pair returns an argument that must be two integers, or nil if it is missing.
func (a *arguments) pair(name string) *[2]int64 {
	value, there := a.get(name, "array")
	if !there {
		return nil
	}
	var pair [2]int64
	n := 0
	for _, element := range value.Elements() {
		number, ok := element.Integer()
		if element.Kind() != "number" || !ok || n == len(pair) {
			n = 0
			break
		}
		pair[n] = number
		n++
	}
	if n != len(pair) {
		a.note("invalid type of", name)
		return nil
	}
	return &pair
}
