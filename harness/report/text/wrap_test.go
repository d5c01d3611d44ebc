package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesAreWrapped(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		want       []string
	}{
		{"short", "one two", []string{"one two"}},
		{"at spaces", "one two three four five", []string{"one two", "three", "four", "five"}},
		{"within a long word", "abcdefghijklmnop", []string{"abcdefghij", "klmnop"}},
		{"a word that fits exactly", "one two th four", []string{"one two th", "four"}},
		{"wide characters", "経済経済経済 x", []string{"経済経済経", "済 x"}},
		{"colours are ended and begun again", "one \x1b[31mtwo three\x1b[0m x", []string{"one \x1b[31mtwo\x1b[0m", "\x1b[31mthree\x1b[0m", "x"}},
		{"a gap at the beginning stays", "   one two three", []string{"   one two", "three"}},
	} {
		got := wrap(tc.line, 10, 6)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if joined := strings.ReplaceAll(strings.Join(got, ""), " ", ""); strings.ReplaceAll(strings.ReplaceAll(joined, "\x1b[31m", ""), "\x1b[0m", "") !=
			strings.NewReplacer(" ", "", "\x1b[31m", "", "\x1b[0m", "").Replace(tc.line) {
			t.Errorf("%s: something is lost: %q", tc.name, got)
		}
	}
}
