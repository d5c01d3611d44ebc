package platform

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// arguments are the arguments of a tool call, and the first error in them. Null counts as absent.
type arguments struct {
	values map[string]jsonwire.Text
	wrong  string
}

func argumentsOf(raw json.RawMessage) *arguments {
	return &arguments{values: jsonwire.Present(raw)}
}

// invalid notes that an argument is invalid, unless another error was noted.
func (a *arguments) invalid(name string) { a.note("Invalid argument: " + name) }

func (a *arguments) missing(name string) { a.note("Missing required parameter: " + name) }

func (a *arguments) note(wrong string) {
	if a.wrong == "" {
		a.wrong = wrong
	}
}

// has reports whether an argument is present.
func (a *arguments) has(name string) bool {
	_, there := a.values[name]
	return there
}

// text returns an argument that must be a string, or "" if it is absent.
func (a *arguments) text(name string) string {
	value, there := a.values[name]
	if !there {
		return ""
	}
	if value.Kind() != "string" {
		a.invalid(name)
		return ""
	}
	return value.Str()
}

// need returns a required string argument.
func (a *arguments) need(name string) string {
	if !a.has(name) {
		a.missing(name)
	}
	return a.text(name)
}

// within returns an argument that must be an integer by value, limited to the range from 1 to most. If it is absent,
// it returns the default.
func (a *arguments) within(name string, byDefault, most int) int {
	value, there := a.values[name]
	if !there {
		return byDefault
	}
	n, ok := value.Integer()
	if !ok {
		a.invalid(name)
		return byDefault
	}
	return int(max(min(n, int64(most)), 1))
}

// time returns an argument that is a date and time (decision G3), or else nil.
func (a *arguments) time(name string) *time.Time {
	t, err := decode.Text(a.values[name], decode.Time)
	if err != nil {
		return nil
	}
	return &t
}
