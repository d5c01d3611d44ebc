package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where many values are known, the same are found as where each is looked for.
func TestKnownValuesAreFoundAmongMany(t *testing.T) {
	b := newBindings(newSide("ref").t, newSide("cand").t)
	for i := range 500 {
		b.remember(tokKnown, fmt.Sprintf("value-%03d", i), fmt.Sprintf("other-%03d", i))
	}
	b.remember(tokKnown, "value-0070", "other-0070")
	b.known[0] = append(b.known[0], knownValue{"u1", tokUnique})
	copied := b.named()
	for i := 500; i < 600; i++ {
		b.remember(tokKnown, fmt.Sprintf("value-%03d", i), fmt.Sprintf("other-%03d", i))
	}
	for _, text := range []string{
		"", "value", "value-007", "value-0070", "xvalue-499value-500", "no value-599", "u1", "other-007", "value-00 value-00", strings.Repeat("value-300 ", 3),
	} {
		for _, b := range []*bindings{b, copied, b.clone()} {
			for side := range b.known {
				if diff := cmp.Diff(scan(text, b.known[side]), scan(text, b.standing(side, text)), cmp.AllowUnexported(token{})); diff != "" {
					t.Errorf("%q (-each +many):\n%s", text, diff)
				}
				if got := b.mentions(side, text); got != (len(b.standing(side, text)) > 0) {
					t.Errorf("mentions(%d, %q) = %t", side, text, got)
				}
			}
		}
	}
}

// BenchmarkDeclaredIDs has as many values that a rule calls ids as the list has elements: twice as many take twice as long.
func BenchmarkDeclaredIDs(b *testing.B) {
	rules := &Rules{Volatile: []Volatile{{At: "$..serial", Kind: ID}}}
	for _, n := range []int{2000, 4000, 8000} {
		list := func(from int) string {
			var out strings.Builder
			for i := range n {
				fmt.Fprintf(&out, `,{"serial":"%dabcdef","name":"a name","note":"some text that is long"}`, from+i)
			}
			return "[" + out.String()[1:] + "]"
		}
		ref, cand := newSide("ref").answers(list(1)), newSide("cand").answers(list(500001))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if got := compared(ref, cand, rules); len(got.Differences) > 0 {
					b.Fatal(got.Differences[0])
				}
			}
		})
	}
}
