package compare

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/internal/ratio"
)

// told returns the number of differences in a result, including those that are only counted.
func told(r Result) int {
	n := 0
	for _, d := range r.Differences {
		if d.Kind == diff.MoreDiffer {
			more, _, _ := strings.Cut(d.Text(), " ")
			n--
			left, _ := strconv.Atoi(more)
			n += left
		}
		n++
	}
	return n
}

// many writes n members or elements between two brackets.
func many(n int, brackets, format string) string {
	var out strings.Builder
	out.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, format, i)
	}
	out.WriteByte(brackets[1])
	return out.String()
}

// Memory for an exchange with very many differences is bounded, both for the result and while comparing. The number of
// differences is still reported.
func TestManyDifferencesAreCounted(t *testing.T) {
	const n = 20_000
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      int
		kind      diff.Kind
		room      uint64 // memory for each place, in bytes
	}{
		{"unexpected", "{}", many(n, "{}", `"f%d":"a"`), n, diff.FieldExtra, 1500},
		{"missing", many(n, "{}", `"f%d":"a"`), "{}", n, diff.FieldMissing, 1500},
		{"changed", many(n, "{}", `"f%d":"a"`), many(n, "{}", `"f%d":"b"`), n, diff.ValueDiffers, 1500},
		{"of another type", many(n, "{}", `"f%d":"a"`), many(n, "{}", `"f%d":1`), n, diff.TypeDiffers, 1500},
		{"unexpected elements", "[]", many(n, "[]", `"a%d"`), n, diff.ElementExtra, 1500},
		{"changed elements", many(n, "[]", `{"a":"a%d"}`), many(n, "[]", `{"a":"b%d"}`), n, diff.ValueDiffers, 1500},
		{"in texts that hold JSON", many(n, "[]", `"{\"a\":\"x%d\"}"`), many(n, "[]", `"{\"a\":\"y%d\"}"`), n, diff.ValueDiffers, 5000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand)
			var got Result
			allocated := ratio.Allocated(func() { got = compared(ref, cand, &Rules{}) })
			last := got.Differences[len(got.Differences)-1]
			if len(got.Differences) != jsondiff.MaxDifferences+1 || told(got) != tc.want || last.Kind != diff.MoreDiffer || got.Differences[0].Kind != tc.kind {
				t.Errorf("%d differences, %d with the others, the first %s and the last %s: %s", len(got.Differences), told(got), got.Differences[0].Kind, last.Kind, last.Text())
			}
			if each := allocated / n; each > tc.room {
				t.Errorf("%d bytes for each place", each)
			}
			again := compared(ref, cand, &Rules{})
			if diff := cmp.Diff(texts(got), texts(again)); diff != "" || last.Fingerprint != again.Differences[len(again.Differences)-1].Fingerprint {
				t.Errorf("the same comes to something else (-first +second):\n%s", diff)
			}
		})
	}
}

// If one side sends very many events and the other one sends one, the time to compare grows linearly with their number.
func TestManyEventsAreCounted(t *testing.T) {
	const n = 30_000
	for _, tc := range []struct {
		name  string
		event func(i int) string
		kind  diff.Kind
	}{
		{"each another", func(i int) string { return fmt.Sprintf(`ping {"n":"x%d"}`, i) }, diff.EventExtra},
		{"all the same", func(int) string { return `ping {"n":"x"}` }, diff.EventDoubled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var events []string
			for i := range n {
				events = append(events, tc.event(i))
			}
			got := compared(newSide("ref").stream("bus", events[0]), newSide("cand").stream("bus", events...), &Rules{})
			if len(got.Differences) != jsondiff.MaxDifferences+1 || told(got) != n-1 || got.Differences[0].Kind != tc.kind {
				t.Errorf("%d differences, %d with the others, the first %s", len(got.Differences), told(got), got.Differences[0].Kind)
			}
			got = compared(newSide("ref").stream("bus", events...), newSide("cand").stream("bus", events[0]), &Rules{})
			if len(got.Differences) != jsondiff.MaxDifferences+1 || told(got) != n-1 || got.Differences[0].Kind != diff.EventMissing {
				t.Errorf("turned: %d differences, %d with the others, the first %s", len(got.Differences), told(got), got.Differences[0].Kind)
			}
		})
	}
}
