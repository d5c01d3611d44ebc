// Package busy makes the machine busy, for tests that must give the same result then.
package busy

import (
	"runtime"
	"sync/atomic"
)

// Threads keeps so many threads of this process busy, and returns a function that ends them. They also end when
// something kills the test.
func Threads(n int) (end func()) {
	var ended atomic.Bool
	before := runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	for range n {
		go func() {
			for !ended.Load() {
			}
		}()
	}
	return func() {
		ended.Store(true)
		runtime.GOMAXPROCS(before)
	}
}
