package runqueue

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// at is a use at a moment: how long the group ran, and how long the threads 1, 2, … waited.
func at(moment, ran time.Duration, waited ...time.Duration) Use {
	u := Use{At: time.Unix(0, 0).Add(moment), Ran: ran, Waited: map[int]time.Duration{}}
	for i, w := range waited {
		if w >= 0 {
			u.Waited[i+1] = w
		}
	}
	return u
}

// none is a thread that does not exist.
const none = -1

func TestAGaugeMeasuresHowLongAGroupWaitedForOthers(t *testing.T) {
	for _, tc := range []struct {
		name  string
		looks []Use
		want  time.Duration // of the last look
	}{
		{"the first look has nothing before it", []Use{at(0, 0, 500*ms)}, 0},
		{"a process that waited", []Use{at(0, 0, 100*ms), at(time.Second, 0, 900*ms)}, 800 * ms},
		{"one that slept, or was blocked", []Use{at(0, 0, 100*ms), at(time.Second, 0, 100*ms)}, 0},
		{"one that worked", []Use{at(0, 0, 0), at(time.Second, 990*ms, 10*ms)}, 0},
		{"one that waited, and worked a little", []Use{at(0, 0, 0), at(time.Second, 50*ms, 800*ms)}, 750 * ms},
		{"threads that wait at once are not added up", []Use{at(0, 0, 0, 0), at(time.Second, 0, 500*ms, 600*ms)}, 600 * ms},
		// sixteen threads that always work, on two processors
		{"threads that keep each other waiting", []Use{at(0, 0, 0, 0), at(time.Second, 2*time.Second, 875*ms, 875*ms)}, 0},
		{"and for long enough to be in the middle of a wait", []Use{
			at(0, 0, 0, 0), at(20*ms, 40*ms, 0, 0), at(40*ms, 80*ms, 0, 38*ms), at(60*ms, 120*ms, 42*ms, 38*ms),
		}, 0},
		{"a wait that began before the last look", []Use{at(0, 0, 0), at(900*ms, 0, 0), at(time.Second, 0, 800*ms)}, 800 * ms},
		{"what was run before it is not taken off", []Use{at(0, 0, 0), at(100*ms, 70*ms, 0), at(time.Second, 80*ms, 700*ms)}, 690 * ms},
		{"what was run during it is", []Use{at(0, 0, 0), at(500*ms, 0, 0), at(900*ms, 300*ms, 0), at(time.Second, 300*ms, 500*ms)}, 200 * ms},
		{"a thread that is new", []Use{at(0, 0, 0), at(time.Second, 0, 0, 300*ms)}, 300 * ms},
		{"a process that is new to us, and older", []Use{at(0, 0, 0), at(100*ms, 0, 0, 9*time.Second)}, 100 * ms},
		{"a thread that has ended", []Use{at(0, 0, 0, 500*ms), at(time.Second, 0, 0, none)}, 0},
		{"a process that was started again", []Use{at(0, 700*ms, 0), at(time.Second, 20*ms, 0, 500*ms)}, 0},
		{"and has run for longer since", []Use{at(0, 20*ms, 0), at(time.Second, 700*ms, none, 750*ms)}, 0},
		{"and waited then", []Use{at(0, 700*ms, 0), at(time.Second, 20*ms, 0), at(2*time.Second, 20*ms, 300*ms)}, 300 * ms},
	} {
		var g Gauge
		var got time.Duration
		for _, u := range tc.looks {
			got = g.Look(u)
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestWaitsAreAddedUpBetweenReadings(t *testing.T) {
	var g Gauge
	var sum time.Duration
	for _, u := range []Use{at(0, 0, 0, 0), at(time.Second, 0, 300*ms, 0), at(2*time.Second, 0, 300*ms, 0), at(3*time.Second, 0, 300*ms, 200*ms)} {
		sum += g.Look(u)
	}
	if sum != 500*ms {
		t.Errorf("%s, want 500ms", sum)
	}
}
