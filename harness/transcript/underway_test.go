package transcript

import (
	"strings"
	"testing"
)

func TestRequestsInProgressAreDescribedInASentence(t *testing.T) {
	for names, want := range map[string]string{
		"a":             "a was under way",
		"a b":           "a and b were under way",
		"a b c d e":     "a, b, c, d and e were under way",
		"a b c d e f g": "a, b, c, d, e and 2 more were under way",
	} {
		if got := UnderWay(strings.Fields(names)); got != want {
			t.Errorf("UnderWay(%s) is %q, want %q", names, got, want)
		}
	}
}
