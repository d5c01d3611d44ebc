package engine

import (
	"github.com/lockstep-dev/lockstep/harness/engine/pool"
)

// A jobLimit lets as many scenarios run at a time as there are jobs.
type jobLimit struct {
	running chan struct{}
	waiting chan struct{} // scenarios that let others run meanwhile
}

// maxWaiting bounds how many scenarios wait for each job but the first.
const maxWaiting = 8

func newJobLimit(jobs int) jobLimit {
	return jobLimit{make(chan struct{}, jobs), make(chan struct{}, maxWaiting*(jobs-1))}
}

func (p jobLimit) acquire() { p.running <- struct{}{} }

func (p jobLimit) release() { <-p.running }

// yieldWhile calls a function that only waits, and lets another scenario run meanwhile. With one job no other one runs: then
// nothing that a scenario does can be mistaken for the work of the next one.
func (p jobLimit) yieldWhile(wait func()) {
	select {
	case p.waiting <- struct{}{}:
		p.release()
		wait()
		p.acquire()
		<-p.waiting
	default:
		wait()
	}
}

// prestarts starts targets of single scenarios before it is their turn.
type prestarts struct {
	room     chan struct{} // of a scenario, from the start of its targets to its end
	starting chan struct{} // of targets that are not ready yet
}

// newPrestarts has room, for each processor, for targets that start, that run, and that are watched after their scenario; and
// for fewer where there are few jobs. With one job there is never more than one of each target.
func newPrestarts(jobs, processors int) prestarts {
	return prestarts{make(chan struct{}, min(3*processors, 2*jobs-1)), make(chan struct{}, processors)}
}

// start waits until there is room for a pool and starts it. It does not wait until the targets are ready: the channel is closed
// when they are, or when one has failed to start.
func (h prestarts) start(targets *pool.Pool) <-chan struct{} {
	h.room <- struct{}{}
	started := make(chan struct{})
	go func() {
		defer close(started)
		h.starting <- struct{}{}
		defer func() { <-h.starting }()
		targets.Start()
	}()
	return started
}

// end makes room when a scenario with targets of its own has ended.
func (h prestarts) end() { <-h.room }
