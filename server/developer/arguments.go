package developer

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// arguments are what a tool is called with. Null is a missing one.
type arguments map[string]jsonwire.Text

func argumentsOf(raw json.RawMessage) arguments {
	a := arguments{}
	object, err := jsonwire.Parse(raw)
	if err != nil || object.Kind() != "object" {
		return a
	}
	for name, value := range object.Members() {
		if value.Kind() != "null" {
			a[name.Str()] = value
		}
	}
	return a
}

func invalid(name string) error { return fault("Invalid argument: " + name) }

func (a arguments) need(name, kind string) (jsonwire.Text, error) {
	value, ok := a[name]
	if !ok {
		return nil, fault("Missing argument: " + name)
	}
	if value.Kind() != kind {
		return nil, invalid(name)
	}
	return value, nil
}

// text returns an argument that must be there and be a text.
func (a arguments) text(name string) (string, error) {
	value, err := a.need(name, "string")
	if err != nil {
		return "", err
	}
	return utf8(value.Str()), nil
}

// integer returns an argument that must be there and be within bounds.
func (a arguments) integer(name string, least, most int) (int, error) {
	value, err := a.need(name, "number")
	if err != nil {
		return 0, err
	}
	n, ok := value.Integer()
	if !ok || n < int64(least) || n > int64(most) {
		return 0, invalid(name)
	}
	return int(n), nil
}

// lineRange returns the argument view_range for so many lines: the first and the last, counted from 1; all if it is not
// there.
func (a arguments) lineRange(lines int) (first, last int, err error) {
	const name = "view_range"
	if _, there := a[name]; !there {
		return 1, lines, nil
	}
	value, err := a.need(name, "array")
	if err != nil {
		return 0, 0, err
	}
	var ends []int64
	for _, element := range value.Elements() {
		n, ok := element.Integer()
		if element.Kind() != "number" || !ok || len(ends) == 2 {
			return 0, 0, invalid(name)
		}
		ends = append(ends, n)
	}
	if len(ends) != 2 || ends[0] < 1 || ends[0] > int64(lines) {
		return 0, 0, invalid(name)
	}
	if ends[1] == -1 || ends[1] > int64(lines) {
		ends[1] = int64(lines)
	}
	if ends[1] < ends[0] {
		return 0, 0, invalid(name)
	}
	return int(ends[0]), int(ends[1]), nil
}
