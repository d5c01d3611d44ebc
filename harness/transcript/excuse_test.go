package transcript

import (
	"testing"
	"time"
)

func TestAMachineExcusesWhatItDelayed(t *testing.T) {
	const ms = time.Millisecond
	starved := []Starvation{{250 * ms, 500 * ms, 100 * ms}, {400 * ms, 1000 * ms, 600 * ms}, {2000 * ms, 2250 * ms, 30 * ms}}
	for _, tc := range []struct {
		name        string
		stalled     time.Duration
		starved     []Starvation
		from, until time.Duration
		want        time.Duration
	}{
		{"nothing was delayed", 0, nil, 0, 3000 * ms, 0},
		{"the harness was, some time", 40 * ms, nil, 0, 10 * ms, 40 * ms},
		{"the target was, before", 0, starved, 1001 * ms, 1999 * ms, 0},
		{"the target was, meanwhile", 0, starved, 0, 3000 * ms, 730 * ms},
		{"and the harness", 40 * ms, starved, 0, 3000 * ms, 770 * ms},
		{"the target was, from before and to after", 0, starved, 600 * ms, 700 * ms, 600 * ms},
		{"its threads were, at once", 0, []Starvation{{0, 1000 * ms, 900 * ms}, {200 * ms, 1100 * ms, 800 * ms}}, 500 * ms, 600 * ms, 1100 * ms},
		{"at a moment", 0, starved, 2100 * ms, 2100 * ms, 30 * ms},
	} {
		got := (&Transcript{Stalled: tc.stalled, Starved: tc.starved}).Excuse(tc.from, tc.until)
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
