package run

import (
	"sync"
	"time"
)

// watchStalls measures how long the machine kept lockstep waiting, by how late a timer fires. If an event is recorded
// late by no more than that, it proves nothing against its server. The returned function ends the watch and returns the
// longest wait. Waits shorter than a tick count as 0.
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
