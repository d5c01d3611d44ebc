package ident

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTwoTextsRevealIDsThatNeitherRevealsAlone(t *testing.T) {
	for _, tc := range []struct {
		name, ref, cand string
		ids             bool
	}{
		{"one without digits", "req_abcdefghijkl", "req_ab12defghijk", true},
		{"a digit each", "req_abcdefghijk1", "req_2bcdefghijkl", true},
		{"of all letters and digits", "chatcmpl-QxYzAbRtLmNoPqWe", "chatcmpl-aBcDeFgHiJkLmNoP", true},
		{"in a longer text", "/v1/req_abcdefghijkl/x?y=1", "/v1/req_ab12defghijk/x?y=1", true},
		{"words", "get-subscriptions", "get-registrations", false},
		{"words with humps", "err_InvalidArgument", "err_InternalFailure", false},
		{"another prefix", "req_abcdefghijkl", "rep_ab12defghijk", false},
		{"of other lengths", "req_abcdefghijkl", "req_ab12defghijkl", false},
		{"too short", "req_abcdef1", "req_ab2defg", false},
		{"another text around it", "the req_abcdefghijkl", "The req_ab12defghijk", false},
		{"no prefix", "abcdefghijkl", "ab12defghijk", false},
		{"another joint", "req_abcdefghijkl", "req-ab12defghijk", false},
	} {
		for _, sides := range [][2]string{{tc.ref, tc.cand}, {tc.cand, tc.ref}} {
			b := New(&transcript.Transcript{}, &transcript.Transcript{})
			if why := b.Texts(sides[0], sides[1], Place{}); why.None() != tc.ids {
				t.Errorf("%s: %q and %q: %q %s", tc.name, sides[0], sides[1], why.Kind, why)
			}
		}
	}
}

func TestAnotherClientsNameIsNoID(t *testing.T) {
	b := New(&transcript.Transcript{Unique: "uturrbydp5jn"}, &transcript.Transcript{Unique: "uturrkmayr2x"})
	for cand, same := range map[string]bool{"own-uturrkmayr2x": true, "own-uturrbhbh4ht": false} {
		if why := b.Texts("own-uturrbydp5jn", cand, Place{}); why.None() != same {
			t.Errorf("%s: %q %s", cand, why.Kind, why)
		}
	}
}

func TestIDsThatTwoTextsRevealAreBound(t *testing.T) {
	const one, two, other = "req_abcdefghijkl", "req_ab12defghijk", "req_zz12defghijk"
	b := New(&transcript.Transcript{}, &transcript.Transcript{})
	for _, text := range [][2]string{{one, two}, {one, two}, {"see " + one, "see " + two}} {
		if why := b.Texts(text[0], text[1], Place{Where: InStep("1", diff.At{})}); !why.None() {
			t.Errorf("%q and %q: %q %s", text[0], text[1], why.Kind, why)
		}
	}
	for _, text := range [][2]string{{one, other}, {"req_mnopqrstuvwx", two}} {
		if why := b.Texts(text[0], text[1], Place{}); why.Kind != diff.IdentityBroken {
			t.Errorf("%q and %q: %q, want a broken identity", text[0], text[1], why.Kind)
		}
	}
}

// Ids of letters and digits, with or without capitals, are hardly ever mistaken for words.
func TestIDsAfterAPrefixAreRarelyRecognised(t *testing.T) {
	const letters = "abcdef0123456789ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	random := rand.New(rand.NewPCG(1, 2))
	for _, tc := range []struct{ alphabet, length, most int }{{36, 16, 8}, {36, 24, 1}, {62, 16, 20}, {62, 24, 4}, {16, 20, 0}} {
		draw := func() string {
			out := make([]byte, tc.length)
			for i := range out {
				out[i] = letters[random.IntN(tc.alphabet)]
			}
			return "call_" + string(out)
		}
		told := 0
		for range 5000 {
			b := New(&transcript.Transcript{}, &transcript.Transcript{})
			if !b.Texts(draw(), draw(), Place{}).None() {
				told++
			}
		}
		if told > tc.most {
			t.Errorf("%d characters of %d: %d of 5000 pairs are told", tc.length, tc.alphabet, told)
		}
	}
}
