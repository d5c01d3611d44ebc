package target

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/runqueue"
)

// A census knows which processes a group has, and what they have had of the processors. It looks no more often than it has
// to: to find them means to look at every process of the machine.
type census struct {
	mu    sync.Mutex
	pids  []int
	again time.Time // when the processes are looked for again
	use   runqueue.Use
	known bool
}

const (
	censusEvery = time.Second
	censusShare = 100 // of the time, at most one in so many is spent looking for processes
)

// Processors returns what all processes of the target have had of the machine's processors, as it was no longer ago than an
// age. It is false when nobody can tell: the harness has not started the target, or the system does not count it. A process
// that is younger than a second may be missing.
func (t *Target) Processors(age time.Duration) (runqueue.Use, bool) {
	p := t.running()
	if p == nil || closed(p.exited) || runtime.GOOS != "linux" {
		return runqueue.Use{}, false
	}
	return p.census.take(age, p.members)
}

// self is this program, without the processes that it has started.
var self census

// OwnProcessors returns what this program has had of the machine's processors, as [Target.Processors] does.
func OwnProcessors(age time.Duration) (runqueue.Use, bool) {
	if runtime.GOOS != "linux" {
		return runqueue.Use{}, false
	}
	return self.take(age, func(context.Context) ([]int, error) { return []int{os.Getpid()}, nil })
}

func (c *census) take(age time.Duration, members func(context.Context) ([]int, error)) (runqueue.Use, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.use.At) < age {
		return c.use, c.known
	}
	if now.After(c.again) {
		c.pids, _ = members(context.Background()) // when nobody can look, nothing is known of nobody
		done := time.Now()
		c.again = done.Add(max(censusEvery, censusShare*done.Sub(now)))
	}
	c.use, c.known = runqueue.Read(c.pids)
	return c.use, c.known
}
