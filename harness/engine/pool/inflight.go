package pool

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/run"
)

// inflight lists the steps that are running on a server, of all scenarios that share it. Every finding about a crash
// shows this list, because another scenario than the one that notices the crash may have caused it.
//
// lockstep notices with a delay that a process has ended: its connections have broken, and some scenarios have gone on
// to a step that no process answers. So the crash is placed at the first broken step after which no step was answered.
type inflight struct {
	mu     sync.Mutex
	clock  int // counts beginnings and ends of steps
	open   []*activity
	failed []*activity
	closed bool
}

// An activity is a step with the order in which it began and ended. ended is 0 while the step runs.
type activity struct {
	run.Activity
	began, ended int
}

func (r *inflight) begin(a run.Activity) (done func(run.Outcome)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	e := &activity{Activity: a, began: r.clock}
	if !r.closed {
		r.open = append(r.open, e)
	}
	return func(o run.Outcome) { r.end(e, o) }
}

func (r *inflight) end(e *activity, o run.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.clock++
	e.ended = r.clock
	r.open = slices.DeleteFunc(r.open, func(other *activity) bool { return other == e })
	switch o {
	case run.Disconnected:
		r.failed = append(r.failed, e)
	case run.Answered: // so the process was alive, whatever broke before
		r.failed = slices.DeleteFunc(r.failed, func(other *activity) bool { return other.ended < e.began })
	}
}

// close is called when the server has ended. The list does not change any more.
func (r *inflight) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if len(r.failed) > 0 {
		death := r.failed[0].ended
		r.open = slices.DeleteFunc(append(r.open, r.failed...), func(e *activity) bool { return e.began > death })
	}
	slices.SortFunc(r.open, func(a, b *activity) int { return a.began - b.began })
}

// reopen empties the list for a restarted server.
func (r *inflight) reopen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.open, r.failed = false, nil, nil
}

// texts returns the steps of the list, such as "pay step 3 POST /orders/x/pay".
func (r *inflight) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.open {
		if text := fmt.Sprintf("%s step %s %s", e.Scenario, e.Step, e.Text); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
