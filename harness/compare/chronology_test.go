package compare

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func TestTimesOfOneThingAreInOneOrder(t *testing.T) {
	// The times are seconds from the beginning of the scenario, which takes 10 seconds.
	thing := func(created, updated string, c, u float64) string {
		at := func(s float64) string {
			return start.Add(time.Duration(s * float64(time.Second))).Format(time.RFC3339Nano)
		}
		return fmt.Sprintf(`{%q:%q,"n":1,%q:%q}`, created, at(c), updated, at(u))
	}
	const plain = "value body /b"
	for _, tc := range []struct {
		name         string
		first, last  string
		refC, refU   float64
		candC, candU float64
		want         []string
	}{
		{"in order", "a", "b", 1, 5, 1, 2, nil},
		{"reversed", "a", "b", 1, 5, 5, 1, []string{plain}},
		{"reversed within a second", "a", "b", 1, 1.5, 1.5, 1, nil},
		{"reversed by chance", "a", "b", 1, 1.1, 6, 1, nil},
		{"reversed beyond chance", "a", "b", 1, 1.1, 30, 1, []string{plain}},
		{"equal on one side", "a", "b", 1, 1, 1, 50, nil}, // for example the beginning of a minute, and the time
		{"equal on one side, and named", "createdAt", "updatedAt", 1, 1, 1, 50, nil},
		{"equal on one side, and named, and reversed", "createdAt", "updatedAt", 1, 1, 5, 3, []string{"value body /updatedAt"}},
		{"named in another order", "created", "changed", 1, 1, 5, 3, []string{"value body /created"}},
		{"reversed on both sides", "createdAt", "updatedAt", 5, 1, 6, 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := thing(tc.first, tc.last, tc.refC, tc.refU), thing(tc.first, tc.last, tc.candC, tc.candU)
			for _, sides := range [][2]string{{ref, cand}, {cand, ref}} {
				r, c := newSide("ref").answers(sides[0]), newSide("cand").answers(sides[1])
				for _, s := range []side{r, c} {
					s.t.Steps[0].Exchanges[0].Done = 10 * time.Second
				}
				if diff := cmp.Diff(tc.want, kinds(compared(r, c, nil))); diff != "" {
					t.Errorf("%s and %s (-want +got):\n%s", sides[0], sides[1], diff)
				}
			}
		})
	}
}

func TestAWrongTimeIsReportedOnce(t *testing.T) {
	ref := newSide("ref").answers(`{"createdAt":"2026-03-01T12:00:00Z","updatedAt":"2026-03-01T12:00:00Z"}`)
	cand := newSide("cand").answers(`{"createdAt":"2027-03-01T12:00:00Z","updatedAt":"2026-03-01T12:00:00Z"}`)
	if diff := cmp.Diff([]string{"value body /createdAt"}, kinds(compared(ref, cand, nil))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestTimesOfAUnitAreInOneOrderToo(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$.*", Kind: jsondiff.Time, Unit: ident.Microseconds}}}
	ref := newSide("ref").answers(`{"a":1772366400000000,"b":1772366405000000}`)
	cand := newSide("cand").answers(`{"a":1772366405000000,"b":1772366400000000}`)
	if diff := cmp.Diff([]string{"value body /b"}, kinds(compared(ref, cand, rules))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
