package harness

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/run"
)

// A roll has what a server is doing for all scenarios that share it, so that the end of one can be told together with
// what was under way: the scenario that brought it down may be another than the one that tells.
//
// When a process ends is known a moment after its connections have broken, and by then some have gone on to a step that
// finds nobody there. The moment of its death is therefore that of the first break behind which there was no answer.
type roll struct {
	mu     sync.Mutex
	now    int // counts beginnings and ends
	open   []*entry
	broken []*entry
	closed bool
}

// An entry is something that began, and perhaps ended.
type entry struct {
	run.Activity
	began, ended int
}

func (r *roll) begin(a run.Activity) (done func(run.Outcome)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	e := &entry{Activity: a, began: r.now}
	if !r.closed {
		r.open = append(r.open, e)
	}
	return func(o run.Outcome) { r.end(e, o) }
}

func (r *roll) end(e *entry, o run.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.now++
	e.ended = r.now
	r.open = slices.DeleteFunc(r.open, func(other *entry) bool { return other == e })
	switch o {
	case run.Broken:
		r.broken = append(r.broken, e)
	case run.Answered: // so it was alive, whatever broke before
		r.broken = slices.DeleteFunc(r.broken, func(other *entry) bool { return other.ended < e.began })
	}
}

// close is called when the server has ended. What is on the roll then stays there.
func (r *roll) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if len(r.broken) > 0 {
		death := r.broken[0].ended
		r.open = slices.DeleteFunc(append(r.open, r.broken...), func(e *entry) bool { return e.began > death })
	}
	slices.SortFunc(r.open, func(a, b *entry) int { return a.began - b.began })
}

// reopen is called when a server takes the place of one that has ended.
func (r *roll) reopen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.open, r.broken = false, nil, nil
}

// underWay returns what is on the roll: "pay step 3 POST /orders/x/pay".
func (r *roll) underWay() []string {
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
