package run

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A busy machine also keeps targets waiting. For a target that lockstep started, the system reports how long it was
// ready to run but had no processor. A target is not blamed for that time. Sleeping, waiting for a lock and working do
// not count, because none of them is waiting for a processor.

// starvationInterval is how often processes are measured. A shorter scenario needs no measurement: nothing in it is
// late.
const starvationInterval = 250 * time.Millisecond

// A starvationLog records when one process waited for a processor.
type starvationLog struct {
	mu    sync.Mutex
	gauge runqueue.Gauge
	last  time.Time // time of the last measurement
	spans []transcript.Starvation
	total time.Duration // sum of the spans
}

// watchStarvation begins to measure the processes of all targets, and lockstep itself. The returned function ends the
// watch. It returns when each process was kept waiting, lockstep last.
func watchStarvation(opts *Options, runs []*targetRun, after func(time.Duration) <-chan time.Time) (end func() [][]transcript.Starvation) {
	var own starvationLog
	measure := func(age time.Duration) {
		if use, ok := opts.Processors(age); ok {
			own.add(runs[0].t.Started, use)
		}
		for _, r := range runs {
			r.measureStarvation(age)
		}
	}
	began, done, over := time.Now(), make(chan struct{}), make(chan struct{})
	measure(starvationInterval) // other scenarios on the target may have measured recently
	go func() {
		defer close(over)
		for {
			select {
			case <-done:
				if time.Since(began) >= starvationInterval {
					measure(0)
				}
				return
			case <-after(starvationInterval):
				measure(starvationInterval / 2)
			}
		}
	}()
	return sync.OnceValue(func() [][]transcript.Starvation {
		close(done)
		<-over
		var out [][]transcript.Starvation
		for _, r := range runs {
			out = append(out, r.starved.spans)
		}
		return append(out, own.spans)
	})
}

// measureStarvation measures the target's process. A measurement that is at most age old is used again.
func (r *targetRun) measureStarvation(age time.Duration) {
	if r.target.Process == nil {
		return
	}
	if use, ok := r.target.Process.Processors(age); ok {
		r.starved.add(r.t.Started, use)
	}
}

// maxGrant limits how much longer a step may take while the target waits for a processor, in multiples of the step's
// limit.
const maxGrant = 3

// within bounds a step by its own limit, or by the default when that is 0. The time in which the target waited for a
// processor is added, so that a busy machine makes no server late.
func (r *targetRun) within(ctx context.Context, bound time.Duration) (context.Context, context.CancelFunc) {
	bound = cmp.Or(bound, r.opts.Step)
	ctx, cancel := context.WithCancelCause(ctx)
	before, done := r.starved.sum(), make(chan struct{})
	go func() {
		defer close(done)
		granted := time.Duration(0)
		for wait := bound; wait > 0 && ctx.Err() == nil; granted += wait {
			waiting.Sleep(ctx, wait)
			r.measureStarvation(0)
			wait = min(r.starved.sum()-before, maxGrant*bound) - granted
		}
		cancel(&timeoutError{"step", bound})
	}()
	return ctx, func() {
		cancel(errDone)
		<-done
	}
}

// add records a measurement, unless it is the last one again.
func (l *starvationLog) add(started time.Time, use runqueue.Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !use.At.After(l.last) {
		return
	}
	if waited := l.gauge.Look(use); waited >= tick {
		until := use.At.Sub(started)
		l.spans = append(l.spans, transcript.Starvation{From: min(l.last.Sub(started), until-waited), Until: until, For: waited})
		l.total += waited
	}
	l.last = use.At
}

// sum returns how long the process has waited since the scenario began.
func (l *starvationLog) sum() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}
