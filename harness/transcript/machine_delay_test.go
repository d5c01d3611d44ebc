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
		got := (&Transcript{Stalled: tc.stalled, Starved: tc.starved}).MachineDelay(tc.from, tc.until, tc.until)
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// If lockstep records something late, its own delay is at most the time that it was kept waiting after the due time.
func TestAHarnessThatWaitedSeesLate(t *testing.T) {
	const ms = time.Millisecond
	delayed := []Starvation{{0, 250 * ms, 200 * ms}, {1000 * ms, 1250 * ms, 100 * ms}, {1250 * ms, 1500 * ms, 250 * ms}}
	for _, tc := range []struct {
		name       string
		stalled    time.Duration
		delayed    []Starvation
		due, until time.Duration
		want       time.Duration
	}{
		{"it did not wait", 0, nil, 0, 1000 * ms, 0},
		{"it waited before", 0, delayed, 300 * ms, 900 * ms, 0},
		{"it waited afterwards", 0, delayed, 300 * ms, 1000 * ms, 0},
		{"it waited meanwhile", 0, delayed, 900 * ms, 2000 * ms, 350 * ms},
		{"it waited since", 0, delayed, 1200 * ms, 2000 * ms, 300 * ms},
		{"it waited until then", 0, delayed, 900 * ms, 1300 * ms, 150 * ms},
		{"for longer than it was due", 0, []Starvation{{0, 900 * ms, 800 * ms}, {100 * ms, 900 * ms, 800 * ms}}, 0, 900 * ms, 900 * ms},
		{"the longest time at once is one of them", 240 * ms, delayed, 900 * ms, 2000 * ms, 350 * ms},
		{"the longest time at once was another", 400 * ms, delayed, 900 * ms, 2000 * ms, 400 * ms},
		{"it came before it was due", 0, delayed, 1500 * ms, 1200 * ms, 0},
	} {
		got := (&Transcript{Stalled: tc.stalled, Delayed: tc.delayed}).MachineDelay(0, tc.due, tc.until)
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
