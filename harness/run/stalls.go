package run

import (
	"sync"
	"time"
)

// watchStalls measures for how long at most this process was kept waiting by its machine: a timer that fires late says so. An
// event that is recorded late by no more than that proves nothing against its server. It returns a function that ends the
// watch and returns the longest wait; less than a tick counts as none.
func watchStalls(after func(time.Duration) <-chan time.Time) (end func() time.Duration) {
	done, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		var longest time.Duration
		for over := false; !over; {
			from := time.Now()
			select {
			case <-done:
				over = true
			case <-after(tick):
			}
			longest = max(longest, time.Since(from)-tick)
		}
		result <- longest
	}()
	return sync.OnceValue(func() time.Duration {
		close(done)
		if longest := <-result; longest >= tick {
			return longest
		}
		return 0
	})
}
