package reveal

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunsAreThoseOfTheExpressions(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for _, tc := range []struct {
		expression, alphabet string
		runs                 func(string) []string
	}{
		{`[A-Za-z0-9+/_-][A-Za-z0-9+/_\r\n-]{6,}[A-Za-z0-9+/_-]`, "AZaz09+/_-AZaz09+/_-\r\n =", base64Runs},
		{`[0-9A-Fa-f](?:[ :]?[0-9A-Fa-f]){11,}`, "0123456789abcdefABCDEF0123456789 :g", hexRuns},
	} {
		expression := regexp.MustCompile(tc.expression)
		for range 5000 {
			text := make([]byte, dice.IntN(120))
			for i := range text {
				text[i] = tc.alphabet[dice.IntN(len(tc.alphabet))]
			}
			if diff := cmp.Diff(expression.FindAllString(string(text), -1), tc.runs(string(text))); diff != "" {
				t.Fatalf("%q (-%s +found):\n%s", text, tc.expression, diff)
			}
		}
	}
}

func TestLinesAreJoinedAsByTheExpression(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	expression := regexp.MustCompile(`([A-Za-z0-9+/_-])\r?\n[ \t]+`)
	const alphabet = "aZ9+\r\n\n \t=é"
	for range 5000 {
		text := make([]byte, dice.IntN(30))
		for i := range text {
			text[i] = alphabet[dice.IntN(len(alphabet))]
		}
		if want, got := expression.ReplaceAllString(string(text), "$1"), unfold(string(text)); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
}
