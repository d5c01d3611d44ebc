package spec

import "testing"

func TestUnescapeIsLenient(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "%41": "A", "%4": "%4", "%": "%", "%zz": "%zz", "%%41": "%A", "%2541": "%41", "%ff": "\xff"} {
		if got := Unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}
