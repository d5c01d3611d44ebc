package excerpt_test

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

func TestTextsAreCutBetweenCodePoints(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for text, want := range map[string]string{
		"": "", a(100): a(100), a(101): a(100) + "...",
		a(98) + "é": a(98) + "é", a(98) + "é!": a(98) + "é...", a(99) + "é": a(99) + "...",
		a(99) + "✓": a(99) + "...", a(97) + "😀b": a(97) + "...", a(96) + "😀": a(96) + "😀", a(96) + "😀b": a(96) + "😀...",
	} {
		if got := excerpt.Quoted(text); got != want {
			t.Errorf("Quoted(%q) is %q, want %q", text, got, want)
		}
	}
	if got := excerpt.Message(a(16<<10 + 1)); got != a(16<<10)+"..." {
		t.Errorf("a long message has %d bytes", len(got))
	}
}
