package compare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// listOf returns a list of things that were created at these times after the beginning of the scenario.
func listOf(thing string, made ...time.Duration) string {
	var out []string
	for _, at := range made {
		out = append(out, fmt.Sprintf(thing, start.Add(at).Format("2006-01-02T15:04:05.000Z")))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func TestTimesOfElementsRunInOneDirection(t *testing.T) {
	const ms = time.Millisecond
	six := []time.Duration{1 * ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms, 6 * ms}
	back := []time.Duration{6 * ms, 5 * ms, 4 * ms, 3 * ms, 2 * ms, 1 * ms}
	ago := func(minutes ...int) (out []time.Duration) {
		for _, n := range minutes {
			out = append(out, -time.Duration(n)*time.Minute)
		}
		return out
	}
	wrong := []string{"order body"}
	for _, tc := range []struct {
		name      string
		thing     string
		ref, cand []time.Duration
		want      []string
	}{
		{"the same way", `{"created_at":%q}`, six, six, nil},
		{"the other way round", `{"created_at":%q}`, six, back, wrong},
		{"of texts", `%q`, six, back, wrong},
		{"further inside", `{"n":1,"info":{"time":{"created":%q}}}`, back, six, wrong},
		{"with a name that is escaped", `{"n\u0061me":1,"created_at":%q}`, six, back, wrong},
		{"by chance", `{"created_at":%q}`, six[:5], back[1:], nil},
		{"two, far apart", `{"created_at":%q}`, ago(20, 10), ago(10, 20), wrong},
		{"one of them equal", `{"created_at":%q}`, six, append([]time.Duration{6 * ms, 6 * ms}, back[2:]...), nil},
		{"in no order", `{"created_at":%q}`, append([]time.Duration{2 * ms, 1 * ms}, six[2:]...), back, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, pad := range []string{"", strings.Repeat(" ", 2<<10)} { // a padded document is read side by side
				ref, cand := newSide("ref").answers(pad+listOf(tc.thing, tc.ref...)), newSide("cand").answers(pad+listOf(tc.thing, tc.cand...))
				if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
					t.Errorf("%d blanks (-want +got):\n%s", len(pad), diff)
				}
			}
		})
	}
}
