package textfit

import (
	"strings"
	"testing"
)

func TestClipReportsWhatItCuts(t *testing.T) {
	for _, tc := range []struct {
		text string
		want string
	}{
		{"", ""},
		{"12345678", "12345678"},
		{"123456789", "12345678… [1 byte cut]"},
		{"\x00\x00\x00", `\x00\x00… [1 byte cut]`},
		{"経済経済経", "経済経済… [3 bytes cut]"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301e\u0301… [3 bytes cut]"},
	} {
		if got := Clip(tc.text, 8); got != tc.want {
			t.Errorf("clip(%q, 8): %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestAListFillsALine(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, tc := range []struct {
		items []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b"}, "a, b"},
		{[]string{long + long, "b"}, long + long + ", and 1 more"},
		{[]string{long, long, "c"}, long + ", and 2 more"},
	} {
		if got := List(tc.items, ", "); got != tc.want {
			t.Errorf("list(%q): %q, want %q", tc.items, got, tc.want)
		}
	}
}
