package jsontree

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A number whose plain spelling is made without reckoning has the one that reckoning gives.
func TestPlainNumberIsTheSameHoweverItIsMade(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 20_000 {
		number := fmt.Sprint(r.Uint64N(1 << r.UintN(64)))
		if r.IntN(2) == 0 {
			number = "-" + number
		}
		if r.IntN(2) == 0 {
			number += fmt.Sprintf(".%0*d", 1+r.IntN(6), r.IntN(2000))
		}
		if r.IntN(8) == 0 {
			number += fmt.Sprintf("e%d", r.IntN(40)-20)
		}
		if got, want := PlainNumber(number), plainNumber(number); got != want {
			t.Errorf("PlainNumber(%s) = %s, want %s", number, got, want)
		}
	}
}

func TestPlainTextsHaveNeitherDigitsNorDashesNorSlashes(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "[::1]": true, "12345": true, "a lamp and a chair": true, "content_type": true,
		"[::1]:1": false, "/tmp/a": false, "abcdefab-abcd-abcd-abcd-abcdefabcdef": false, "lamp no. 7": false,
	} {
		if got := Plain(text); got != want {
			t.Errorf("Plain(%q) = %t, want %t", text, got, want)
		}
	}
}
