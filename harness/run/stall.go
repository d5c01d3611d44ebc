package run

import (
	"sync"
	"time"
)

// How long an event took to come is measured by this process, which a busy machine may keep waiting as well as the
// targets. So the process watches itself: a timer that fires late says how long it was kept waiting. What is seen of a
// target later than it should by no more than that proves nothing against it.

// tick is how often the process looks whether it is on time.
const tick = 20 * time.Millisecond

// watchStalls begins to watch, with a timer, and returns what ends that, once, and tells the longest time that this process
// was kept waiting.
func watchStalls(after func(time.Duration) <-chan time.Time) (end func() time.Duration) {
	done, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		for over := false; !over; {
			from := time.Now()
			select {
			case <-done:
				over = true
			case <-after(tick):
			}
			most = max(most, time.Since(from)-tick)
		}
		longest <- most
	}()
	return sync.OnceValue(func() time.Duration {
		close(done)
		if most := <-longest; most >= tick {
			return most
		}
		return 0 // as usual
	})
}
