package body

import (
	"strings"
	"testing"
)

func TestValuesAreCountedExactly(t *testing.T) {
	for name, values := range map[string]func(more string) string{
		"elements": func(more string) string { return "[" + strings.Repeat("0,", 999_998) + more + "]" },
		"members":  func(more string) string { return "{" + strings.Repeat(`"":0,`, 999_998) + `"":` + more + "}" },
		"blanks":   func(more string) string { return " [ " + strings.Repeat("{ } , ", 999_998) + more + " ] " },
		"nested":   func(more string) string { return "[" + strings.Repeat("[0],", 499_999) + more + "]" },
		"texts":    func(more string) string { return "[" + strings.Repeat(`"[\"{,",`, 999_998) + more + "]" },
	} {
		if tooManyValues([]byte(values("[\t]"))) || !tooManyValues([]byte(values("[0]"))) {
			t.Errorf("%s: the bound is not 1,000,000", name)
		}
	}
	for _, text := range []string{`"`, `"\`, "[", "{", ",,", `"\"`} { // not JSON, and long enough to be counted
		tooManyValues([]byte(strings.Repeat(" ", 2*maxValues) + text))
	}
}
