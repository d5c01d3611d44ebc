package jsondiff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Skipping must not miss anything: two documents are compared as if every value were looked at.
func TestWhatIsPassedOverHasNoDifferences(t *testing.T) {
	leaves := [2][]string{
		{`"lamp"`, `1`, `1.50`, `"ses_0a1b2c3d4e5f"`, `"0198c1f2-7c1e-7000-8000-000000000001"`, `"of uref00000001"`, `"https://127.0.0.1:4001/x"`, `1765000000000`, `"\u0075ref00000001"`, `"Thing\u003c1\u003e no. 17"`, `"2025-06-01T12:00:00Z"`, `"client_call_1765000000000"`, `-0.0`, `null`, `"whole value"`, `"65f0a1b2c3d4e5f60718293a"`, `"/tmp/aaa"`, `"\/tmp\/agent-aaabbb\/x"`, `"a%3AV1StGXR8_Z5jdHi6B-myT"`},
		{`"lamp"`, `1e0`, `1.5`, `"ses_ffeeddcc1122"`, `"0198c1f2-7c1e-7000-8000-000000000002"`, `"of ucand0000002"`, `"https://127.0.0.1:4002/x"`, `1765000000001`, `"\u0075cand0000002"`, `"Thing<1> no. 17"`, `"2025-06-01T12:00:00Z"`, `"client_call_1765000000001"`, `0`, `null`, `"whole value"`, `"65f0a1b2c3d4e5f60718293b"`, `"/tmp/bbb"`, `"/tmp/agent-cccddd/x"`, `"a%3Ab1StGXR8_Z5jdHi6B-myT"`},
	}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 5))
		var sides [2]strings.Builder
		both := func(format string, args ...any) {
			for i := range sides {
				fmt.Fprintf(&sides[i], format, args...)
			}
		}
		wrong := r.IntN(3) // the percentage of wrong values
		var value func(depth int)
		value = func(depth int) {
			switch {
			case depth == 0 || r.IntN(3) == 0:
				leaf := r.IntN(len(leaves[0]))
				for i := range sides {
					from := i
					if r.IntN(100) < wrong {
						from = r.IntN(2)
					}
					sides[i].WriteString(leaves[from][leaf])
				}
			case r.IntN(2) == 0:
				both("[")
				for k := range 1 + r.IntN(9) {
					if k > 0 {
						both(", ")
					}
					value(depth - 1)
				}
				both("]")
			default:
				both("{")
				for k := range 1 + r.IntN(9) {
					if k > 0 {
						both(", ")
					}
					both(`"m%d": `, k)
					value(depth - 1)
				}
				both("}")
			}
		}
		both("[")
		for range 40 {
			value(4)
			both(",")
		}
		both(`"end"]`)
		compare := func(read func(Content) (*jsontree.Node, error)) []string {
			var out []string
			begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			b := ident.New(&transcript.Transcript{Unique: "uref00000001", Started: begin}, &transcript.Transcript{Unique: "ucand0000002", Started: begin})
			for range 2 {
				d := newDocuments(setting{ids: b, history: &history{}, place: ident.Place{Where: ident.InStep("1", diff.At{}), Seen: [2]time.Time{begin, begin}}, report: func(d diff.Difference) { out = append(out, fmt.Sprint(d, d.At.Pointers, d.Fingerprint)) }})
				var roots [2]*jsontree.Node
				for i := range sides {
					d.sums.whole[i].text = []byte(sides[i].String())
					var err error
					if roots[i], err = read(Content{Data: d.sums.whole[i].text}); err != nil {
						t.Fatal(err)
					}
				}
				d.node(nil, roots[0], roots[1])
			}
			return out
		}
		want := compare(Parse)
		if diff := cmp.Diff(want, compare(func(c Content) (*jsontree.Node, error) {
			root, _, err := (&Comparer{IDs: &ident.Bindings{}}).open(c, nil)
			return root, err
		})); diff != "" {
			t.Errorf("seed %d (-all looked at +some passed over):\n%.2000s", seed, diff)
		}
	}
}
