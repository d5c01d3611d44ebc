package pattern_test

import (
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/pattern"
)

func TestAStarStandsForAnyRunOfCharacters(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"a*a", "aa", true}, {"a*a", "a", false}, {"*", "", true}, {"ab", "abc", false}, {"ab", "ab", true}, {"", "", true}, {"", "a", false},
		{"a**c", "abc", true}, {"*b*", "abc", true}, {"*b*b*", "abc", false}, {"a?c", "abc", false}, {"A", "a", false},
	} {
		if got := pattern.Matches(tc.pattern, tc.text); got != tc.want {
			t.Errorf("Matches(%q, %q) = %t", tc.pattern, tc.text, got)
		}
	}
}
