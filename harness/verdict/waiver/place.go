package waiver

import (
	"strings"
)

// stepOf returns the step at the beginning of a place, and whether there is one. A step may contain a colon. If several
// steps have the same text, all but the first have a number: "GET /items (2): body /name". Without a step, the place is
// all of at.
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
		return step, strings.HasPrefix(at, "process") // about a target that ended while no step was running
	}
	return step, false
}
