package lettercase_test

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

func TestLettersAreMappedInFull(t *testing.T) {
	for _, tc := range []struct{ in, lower, upper, title, capital string }{
		{"", "", "", "", ""},
		{"aB-c 1d", "ab-c 1d", "AB-C 1D", "Ab-C 1d", "Ab-c 1d"},
		{"İx", "i\u0307x", "İX", "I\u0307x", "I\u0307x"},
		{"straße", "straße", "STRASSE", "Straße", "Straße"},
		{"STRAẞE", "straße", "STRAẞE", "Straße", "Straße"},
		{"ßa", "ßa", "SSA", "SSa", "SSa"},
		{"ΑΣ ΣΑΣΑ Σ", "ας σασα σ", "ΑΣ ΣΑΣΑ Σ", "Ας Σασα Σ", "Ας σασα σ"},
		{"ﬁ ŉ", "ﬁ ŉ", "FI ʼN", "FI ʼN", "FI ŉ"},
		{"\u212a", "k", "\u212a", "K", "K"}, // the Kelvin sign
		{"a\u0301b é_x", "a\u0301b é_x", "A\u0301B É_X", "A\u0301b É_X", "A\u0301b é_x"},
		{" ab", " ab", " AB", " Ab", " ab"},
		{"\xffa", "\ufffda", "\ufffdA", "\ufffdA", "\ufffda"},
	} {
		for name, got := range map[string][2]string{
			"Lower": {lettercase.Lower(tc.in), tc.lower}, "Upper": {lettercase.Upper(tc.in), tc.upper},
			"Title": {lettercase.Title(tc.in), tc.title}, "Capitalize": {lettercase.Capitalize(tc.in), tc.capital},
		} {
			if strings.ToValidUTF8(got[0], "\ufffd") != got[1] {
				t.Errorf("%s(%+q) = %+q, want %+q", name, tc.in, got[0], got[1])
			}
		}
	}
}
