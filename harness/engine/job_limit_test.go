package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// Scenarios that only wait let others run. Their number is limited, and with one job no other scenario runs.
func TestSlotsOfWaitingScenariosAreUsedByOthers(t *testing.T) {
	for _, tc := range []struct {
		jobs, scenarios int
		took            time.Duration
	}{
		{1, 3, 3 * time.Second},
		{2, 2, time.Second},
		{2, maxWaiting + 2, time.Second},
		{2, maxWaiting + 3, 2 * time.Second},
		{4, 3*maxWaiting + 4, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, start := newJobLimit(tc.jobs), time.Now()
			running, most := 0, 0
			done := make(chan struct{})
			for range tc.scenarios {
				p.acquire()
				running++
				most = max(most, running)
				go func() {
					p.yieldWhile(func() {
						running--
						time.Sleep(time.Second)
					})
					p.release()
					done <- struct{}{}
				}()
				synctest.Wait()
			}
			for range tc.scenarios {
				<-done
			}
			if took := time.Since(start); took != tc.took || most > tc.jobs {
				t.Errorf("%d scenarios on %d places took %s, want %s; %d ran at a time", tc.scenarios, tc.jobs, took, tc.took, most)
			}
		})
	}
}

func TestHeadStartsAreBounded(t *testing.T) {
	for _, tc := range []struct{ jobs, processors, room int }{
		{1, 8, 1}, // one after the other
		{2, 8, 3},
		{4, 2, 6},
		{64, 2, 6},
		{4, 1, 3},
	} {
		if h := newPrestarts(tc.jobs, tc.processors); cap(h.room) != tc.room || cap(h.starting) != tc.processors {
			t.Errorf("%d jobs on %d processors: room for %d, of which %d start", tc.jobs, tc.processors, cap(h.room), cap(h.starting))
		}
	}
}
