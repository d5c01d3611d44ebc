package engine

import (
	"github.com/lockstep-dev/lockstep/harness/engine/pool"
)

// A jobLimit lets as many scenarios run at the same time as there are jobs.
type jobLimit struct {
	running chan struct{}
	waiting chan struct{} // scenarios that let others run meanwhile
}

// maxWaiting limits how many scenarios wait for each job but the first.
const maxWaiting = 8

func newJobLimit(jobs int) jobLimit {
	return jobLimit{make(chan struct{}, jobs), make(chan struct{}, maxWaiting*(jobs-1))}
}

func (p jobLimit) acquire() { p.running <- struct{}{} }

func (p jobLimit) release() { <-p.running }

// yieldWhile calls a function that only waits, and lets another scenario run meanwhile. With one job, no other scenario
// runs meanwhile. So what a scenario causes cannot be mistaken for the work of the next one.
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

// prestarts starts the targets of single scenarios in advance.
type prestarts struct {
	room     chan struct{} // scenarios whose targets have been started and that have not ended
	starting chan struct{} // pools whose targets are not ready yet
}

// newPrestarts has room, for each processor, for targets that start, that run, and that are watched after their
// scenario. Few jobs have less room. With one job, there is never more than one process of each target.
func newPrestarts(jobs, processors int) prestarts {
	return prestarts{make(chan struct{}, min(3*processors, 2*jobs-1)), make(chan struct{}, processors)}
}

// start waits until there is room for a pool and starts it. It does not wait until the targets are ready: the channel
// is closed when all of them are ready or one has failed to start.
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

// end makes room when a scenario with its own targets has ended.
func (h prestarts) end() { <-h.room }
