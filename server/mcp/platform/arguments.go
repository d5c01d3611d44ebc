package platform

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// arguments are what a tool is called with, and the first thing that is wrong with them. What is null is absent.
type arguments struct {
	values map[string]jsonwire.Text
	wrong  string
}

func argumentsOf(raw json.RawMessage) *arguments {
	return &arguments{values: jsonwire.Present(raw)}
}

// invalid notes that an argument cannot be used, unless something else is wrong already.
func (a *arguments) invalid(name string) { a.note("Invalid argument: " + name) }

func (a *arguments) missing(name string) { a.note("Missing required parameter: " + name) }

func (a *arguments) note(wrong string) {
	if a.wrong == "" {
		a.wrong = wrong
	}
}

// has says whether there is an argument.
func (a *arguments) has(name string) bool {
	_, there := a.values[name]
	return there
}

// text returns an argument that must be a text, empty if there is none.
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

// need returns an argument that must be there, and a text.
func (a *arguments) need(name string) string {
	if !a.has(name) {
		a.missing(name)
	}
	return a.text(name)
}

// within returns an argument that must be an integer by value: what is less than 1 is 1, and what is more than the most is
// that. If there is none it is the default.
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

// time returns an argument that is a date and time (decision G3), else nil.
func (a *arguments) time(name string) *time.Time {
	t, err := decode.Text(a.values[name], decode.Value.Time)
	if err != nil {
		return nil
	}
	return &t
}
