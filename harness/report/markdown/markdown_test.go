package markdown

import (
	"strings"
	"testing"
)

func TestNothingInASummaryIsMarkup(t *testing.T) {
	for _, text := range []string{"**bold**", "<img src=x>", "[a](http://x)", "@everyone", "#12", "http://x.example", "www.example.org", "a | b", "`code`", "![x](y)", "&lt;", "~~x~~", "$x$"} {
		got := mdText(text, 100)
		for _, bad := range []string{"**", "<", "[a]", "@", "http://", "www.", " | ", "![", "~~"} {
			if strings.Contains(strings.ReplaceAll(got, `\|`, ""), bad) && !strings.Contains(got, `\`+bad[:1]) {
				t.Errorf("%q is written as %q", text, got)
			}
		}
	}
	for text, want := range map[string]string{"plain": "` plain `", "a`b": "`` a`b ``", "a```b``": "```` a```b`` ````"} {
		if got := mdCode(text, 100); got != want {
			t.Errorf("mdCode(%q) = %q, want %q", text, got, want)
		}
	}
}
