package run

import (
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/runqueue"
)

// A busy machine keeps targets waiting, too, and not for as long as this process. Of a target that the harness has started, the
// system tells for how long it could have run and did not get a processor. That is no lack of promptness. To sleep, to wait
// for a lock and to work are: none of them is waiting for a processor.

// glance is how often the run looks what its targets wait for. Scenarios that are over sooner have nothing that could be late.
const glance = 250 * time.Millisecond

// A starving is what is known of how a target of a scenario was kept waiting.
type starving struct {
	gauge runqueue.Gauge
	last  time.Time // of the looks
	spans []transcript.Starvation
}

// watchStarvation begins to watch all targets and the harness, with a timer, and returns what ends that, once, and tells how
// each was kept waiting, the harness last.
func (r *stage) watchStarvation(after func(time.Duration) <-chan time.Time) (end func() [][]transcript.Starvation) {
	all := make([]starving, len(r.walkers)+1)
	look := func(age time.Duration) {
		if use, ok := r.opts.Processors(age); ok {
			all[len(r.walkers)].look(r.walkers[0].t.Started, use)
		}
		for i, w := range r.walkers {
			if w.server.Process == nil {
				continue
			}
			if use, ok := w.server.Process.Processors(age); ok {
				all[i].look(w.t.Started, use)
			}
		}
	}
	began, done, over := time.Now(), make(chan struct{}), make(chan struct{})
	look(glance) // others that share the target may have looked
	go func() {
		defer close(over)
		for {
			select {
			case <-done:
				if time.Since(began) >= glance {
					look(0)
				}
				return
			case <-after(glance):
				look(glance / 2)
			}
		}
	}()
	return sync.OnceValue(func() [][]transcript.Starvation {
		close(done)
		<-over
		out := make([][]transcript.Starvation, len(all))
		for i := range all {
			out[i] = all[i].spans
		}
		return out
	})
}

// look takes in what the system says of the target.
func (s *starving) look(started time.Time, use runqueue.Use) {
	if use.At.Equal(s.last) {
		return // it is no news
	}
	if waited := s.gauge.Look(use); waited >= tick {
		until := use.At.Sub(started)
		s.spans = append(s.spans, transcript.Starvation{From: min(s.last.Sub(started), until-waited), Until: until, For: waited})
	}
	s.last = use.At
}
