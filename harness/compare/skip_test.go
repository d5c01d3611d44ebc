package compare

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What is passed over must not be missed: whatever stands in two documents, they are compared as they would be if every
// value were looked at.
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
		wrong := r.IntN(3) // how often
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
		compare := func(read func(content) (*jsontree.Node, error)) []string {
			var out []string
			b := newBindings(newSide("ref").t, newSide("cand").t)
			for range 2 {
				d := documents{b: b, place: place{seen: [2]time.Time{start, start}}, report: func(d Difference) { out = append(out, fmt.Sprint(d)) }}
				var roots [2]*jsontree.Node
				for i := range sides {
					d.whole[i].text = []byte(sides[i].String())
					var err error
					if roots[i], err = read(content{data: d.whole[i].text}); err != nil {
						t.Fatal(err)
					}
				}
				d.json(roots[0], roots[1])
			}
			return out
		}
		want := compare(parse)
		if diff := cmp.Diff(want, compare(func(c content) (*jsontree.Node, error) {
			root, _, err := (&comparison{b: &bindings{}}).open(c, nil)
			return root, err
		})); diff != "" {
			t.Errorf("seed %d (-all looked at +some passed over):\n%.2000s", seed, diff)
		}
	}
}

func TestHasShapeFindsEveryToken(t *testing.T) {
	for _, text := range []string{
		"x ses_0a1b2c3d4e5f", "0198c1f2-7c1e-7000-8000-000000000001", "abcdefab-abcd-abcd-abcd-abcdefabcdef", "http://localhost:4001", "http://127.0.0.1:1",
		"[::1]:1", "at 1765000000", "1765000000000", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "2025-06-01T12:00:00.123456789Z", "Sun, 06 Nov 1994 08:49:37 GMT",
		"2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", "65f0a1b2c3d4e5f60718293a", "0b3f9c1e7d2a4c559a605f1e2d3c4b5a", "V1StGXR8_Z5jdHi6B-myT", "_1StGXR8_Z5jdHi6B-myT",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "/tmp/a", "/var/folders/zz/abc/T/x", "a%3AV1StGXR8_Z5jdHi6B-myT", "%2Ftmp%2Fa",
		"--req-7Xk2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		if len(scan(text, nil)) == 0 {
			t.Errorf("%q has no token", text)
		}
		if jsontree.Plain(text) {
			t.Errorf("%q is plain", text)
		}
		if !hasShape(`{"a":"`+text+`"}`, true) {
			t.Errorf("hasShape(%q) = false", text)
		}
	}
	for _, text := range []string{
		`\n65f0a1b2c3d4e5f60718293a`, `\u00e965f0a1b2c3d4e5f60718293a`, `\/tmp\/a`, `\u002ftmp/a`, `6\u00355f0a1b2c3d4e5f60718293a`, `x\u003aV1StGXR8_Z5jdHi6B-myT`,
	} {
		if !hasShape(text, true) {
			t.Errorf("hasShape(%s) = false", text)
		}
	}
	if text := `{"a":"lamp \u003cb\u003e\n\t\"x\" \\tmp\u2028"}`; hasShape(text, true) {
		t.Errorf("hasShape(%s) = true", text)
	}
	if text := `{"a":[1,2.5,"lamp no. 12-b","x_1"],"price":199999,"b-c":"http://example.org:80/[a]"}`; hasShape(text, true) {
		t.Errorf("hasShape(%s) = true", text)
	}
}
