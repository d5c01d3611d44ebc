package waiver

import (
	"strings"
)

// stepOf returns the step that a place begins with, and whether there is one. A step can have a colon of its own, and be
// followed by a number when it is not the first that says so: "GET /items (2): body /name". What is about no step has a
// place alone.
func stepOf(at string, steps []string) (step string, ok bool) {
	for _, s := range steps {
		rest, is := strings.CutPrefix(at, s)
		if !is {
			continue
		}
		if strings.HasPrefix(rest, ": ") {
			return s, true
		}
		if number, _, is := strings.Cut(rest, "): "); is && strings.HasPrefix(number, " (") && strings.Trim(number[2:], "0123456789") == "" {
			return s, true
		}
	}
	step, place, cut := strings.Cut(at, ": ")
	if !cut || place == "" {
		return step, strings.HasPrefix(at, "process") // of a target that ended while no step was under way
	}
	return step, false
}
