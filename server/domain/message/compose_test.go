package message_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

func TestLongRunsOfMarksStayAsTheyAre(t *testing.T) {
	acute, below := "\u0301", "\u0323"
	for _, tc := range []struct{ text, want string }{
		{"q" + strings.Repeat(acute, 31), "q" + strings.Repeat(acute, 31)},
		{"e" + strings.Repeat(acute, 40) + "e" + acute, "\u00e9" + strings.Repeat(acute, 39) + "\u00e9"},
		{"q" + strings.Repeat(acute, 40) + below, "q" + below + strings.Repeat(acute, 40)},
		{"e" + strings.Repeat(acute, 40) + below, "\u1eb9" + strings.Repeat(acute, 40)},
		{strings.Repeat(acute, 40), strings.Repeat(acute, 40)},
		{"\u1112\u1161\u11ab" + strings.Repeat(acute, 40) + "\u1161", "\ud55c" + strings.Repeat(acute, 40) + "\u1161"},
		{strings.Repeat("\u0344", 20), strings.Repeat("\u0308\u0301", 20)},
		{"q" + strings.Repeat("\u034f", 2), "q" + strings.Repeat("\u034f", 2)},
	} {
		if got := message.Clean(tc.text); got != tc.want {
			t.Errorf("%+q is normalised to %+q, want %+q", tc.text, got, tc.want)
		}
	}
}

// TestCompositionIsThatOfTheLibrary compares this package's composition with the library's, on texts that the library
// handles.
func TestCompositionIsThatOfTheLibrary(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aeo\u1112\u1161\u11ab\u0915\u093c\u212b\u1e9b\u00c5 ")
	marks := []rune("\u0301\u0323\u0308\u0344\u0345\u05b0\u05bc\u0f73\u0330")
	drawn := func(from []rune, most int) (text string) {
		for range draw.IntN(most) {
			text += string(from[draw.IntN(len(from))])
		}
		return text
	}
	for range 20000 {
		text := drawn(letters, 4) + drawn(marks, 14) + drawn(letters, 3)
		if got, want := message.Clean(text), norm.NFC.String(text); got != want {
			t.Fatalf("%+q is normalised to %+q, want %+q", text, got, want)
		}
	}
}
