package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

// BenchmarkDeclaredIDs compares lists in which each element has an id that only a rule declares. Twice as many elements
// should take twice as long.
func BenchmarkDeclaredIDs(b *testing.B) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..serial", Kind: jsondiff.ID}}}
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
