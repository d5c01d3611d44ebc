package textfit

import (
	"strings"
	"testing"
)

func TestWordsOfOneSideAreFound(t *testing.T) {
	show := func(all []Part) string {
		var b strings.Builder
		for _, p := range all {
			if p.Same {
				b.WriteString(p.Text)
			} else {
				b.WriteString("[" + p.Text + "]")
			}
		}
		return b.String()
	}
	long := strings.Repeat("a b ", 2000)
	for _, tc := range []struct{ left, right, wantLeft, wantRight string }{
		{"not found", "not found.", "not found", "not found[.]"},
		{`"done"`, `"finished"`, `"[done]"`, `"[finished]"`},
		{"the item 7 was not found", "item 7 could not be found", "[the ]item 7 [was] not found", "item 7 [could] not[ be] found"},
		{"", "a", "", "[a]"},
		{"same", "same", "same", "same"},
		{"café au lait", "cafe\u0301 au lait", "[café] au lait", "[cafe\u0301] au lait"},
		{"x" + long, "y" + long, "[xa]" + long[1:], "[ya]" + long[1:]},
	} {
		l, r := Words(tc.left, tc.right)
		if show(l) != tc.wantLeft || show(r) != tc.wantRight {
			t.Errorf("%.60q and %.60q: %.80s and %.80s", tc.left, tc.right, show(l), show(r))
		}
	}
}
