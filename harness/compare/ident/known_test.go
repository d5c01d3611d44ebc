package ident

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The index that is used for many known values finds the same values as a separate search for each of them.
func TestKnownValuesAreFoundAmongMany(t *testing.T) {
	b := New(&transcript.Transcript{Unique: "uref00000001"}, &transcript.Transcript{Unique: "ucand0000002"})
	for i := range 500 {
		b.Vocabulary.remember(TokKnown, fmt.Sprintf("value-%03d", i), fmt.Sprintf("other-%03d", i))
	}
	b.Vocabulary.remember(TokKnown, "value-0070", "other-0070")
	b.Vocabulary.known[0].values = append(b.Vocabulary.known[0].values, KnownValue{"u1", tokUnique})
	copied := b.Clone()
	for i := 500; i < 600; i++ {
		b.Vocabulary.remember(TokKnown, fmt.Sprintf("value-%03d", i), fmt.Sprintf("other-%03d", i))
	}
	for _, text := range []string{
		"", "value", "value-007", "value-0070", "xvalue-499value-500", "no value-599", "u1", "other-007", "value-00 value-00", strings.Repeat("value-300 ", 3),
	} {
		for _, b := range []*Bindings{b, copied, b.Clone()} {
			for side := range b.Vocabulary.known {
				known := &b.Vocabulary.known[side]
				if diff := cmp.Diff(Scan(text, known.values), Scan(text, known.in(text)), cmp.AllowUnexported(token{})); diff != "" {
					t.Errorf("%q (-each +many):\n%s", text, diff)
				}
				if got := b.Vocabulary.Mentions(side, text); got != (len(known.in(text)) > 0) {
					t.Errorf("mentions(%d, %q) = %t", side, text, got)
				}
			}
		}
	}
}

func TestPartnersAreBoundToEachOther(t *testing.T) {
	b := New(&transcript.Transcript{}, &transcript.Transcript{})
	where := Place{Where: InStep("1", diff.At{Part: "body"})}
	for i := range 20 {
		ref, cand := fmt.Sprintf("ses_0a1b2c3d4e%02d", i), fmt.Sprintf("ses_ffeeddccbb%02d", i)
		for _, text := range []string{"", "at ", "/sessions/"} {
			if why := b.Texts(text+ref, text+cand, where); !why.None() {
				t.Errorf("%s and %s: %s", ref, cand, why)
			}
		}
		if why := b.Texts(ref, "ses_000011112222", where); why.Kind != diff.IdentityBroken {
			t.Errorf("%s and another: %q", ref, why.Kind)
		}
	}
	for key, partner := range b.partners.of[0] {
		if b.partners.of[1][boundKey{key.kind, partner.value}].value != key.value {
			t.Errorf("%v is bound to %v, which is not bound to it", key, partner)
		}
	}
	if of := b.partners.of; len(of[0]) != len(of[1]) {
		t.Errorf("%d are bound to %d", len(of[0]), len(of[1]))
	}
}
