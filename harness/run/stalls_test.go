package run

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAStallIsHowLateATimerFires(t *testing.T) {
	for _, late := range []time.Duration{0, tick / 2, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			timers := 0
			end := watchStalls(func(d time.Duration) <-chan time.Time {
				if timers++; timers == 3 {
					d += late
				}
				return time.After(d)
			})
			time.Sleep(time.Second)
			want := late
			if late < tick {
				want = 0
			}
			if got, again := end(), end(); got != want || again != got {
				t.Errorf("one timer of many is late by %s: %s, and then %s", late, got, again)
			}
		})
	}
}
