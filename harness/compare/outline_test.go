package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func TestListsAreAlignedHoweverTheyAreWritten(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..serial", Kind: jsondiff.ID}}}
	const (
		lamp, lamp2   = `{"name":"lamp","serial":1,"weight":1.5}`, `{"weight":1.50, "serial":71, "name":"l\u0061mp"}`
		chair, chair2 = `{"name":"chair","serial":2,"weight":2.5}`, `{"weight":2.50, "serial":72, "name":"chair"}`
		rug, rug2     = `{"name":"rug","serial":3,"weight":3e0}`, `{"weight":3.0, "serial":73, "name":"rug"}`
	)
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      []string
	}{
		{"equal", `[` + lamp + `,` + chair + `]`, `[` + lamp2 + `,` + chair2 + `]`, nil},
		{"another order", `[` + lamp + `,` + chair + `]`, `[` + chair2 + `,` + lamp2 + `]`, []string{"order body"}},
		{"the first is missing", `[` + lamp + `,` + chair + `,` + rug + `]`, `[` + chair2 + `,` + rug2 + `]`, []string{"element-missing body /0"}},
		{"the first is extra", `[` + chair + `,` + rug + `]`, `[` + lamp2 + `,` + chair2 + `,` + rug2 + `]`, []string{"element-extra body /0"}},
		{"one in the middle is missing", `[` + lamp + `,` + chair + `,` + rug + `]`, `[` + lamp2 + `,` + rug2 + `]`, []string{"element-missing body /1"}},
		{"an id is another's", `[` + lamp + `,` + chair + `]`, `[` + lamp2 + `,{"name":"chair","serial":71,"weight":2.5}]`, []string{"identity body /1/serial"}},
		{
			"generated names", `[{"c-uref00000001":1,"a":2},{"b":3}]`, `[{"b":3},{"a":2,"c-ucand0000002":1}]`, []string{"order body"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsAreAlignedHoweverTheyAreWritten(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..serial", Kind: jsondiff.ID}}}
	ref := newSide("ref").stream("bus", `a {"n":1.0,"serial":1}`, `a {"n":2,"serial":2}`, `a {"n":3,"serial":3}`)
	for _, tc := range []struct {
		name string
		cand []string
		want []string
	}{
		{"equal", []string{`a {"serial":71, "n":1.00}`, `a {"serial":72, "n":2}`, `a {"serial":73, "n":3}`}, nil},
		{"one is lost", []string{`a {"serial":71, "n":1.00}`, `a {"serial":73, "n":3}`}, []string{"event-missing event 2 (a)"}},
		{"two change places", []string{`a {"serial":71, "n":1.00}`, `a {"serial":73, "n":3}`, `a {"serial":72, "n":2}`}, []string{"event-order event 3 (a)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := compared(ref, newSide("cand").stream("bus", tc.cand...), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
