// Package pending holds an agent's open requests to its user: whether a tool may run (GA 8.2), or a question of an
// MCP server (GA 8.3). Request and answer arrive in different HTTP requests, and have the same ID. If several
// requests have one ID, an answer goes to the oldest (decision M56).
package pending

import (
	"context"
	"slices"
	"sync"
)

// Requests are the open requests of one agent. An A is an answer to one. The zero value is empty.
type Requests[A any] struct {
	mu    sync.Mutex
	keep  int
	open  map[string][]chan A // the unanswered ones by ID, oldest first
	early []answer[A]         // answers without a request, oldest first
}

type answer[A any] struct {
	id    string
	value A
}

// A Request waits for its answer.
type Request[A any] struct {
	requests *Requests[A]
	id       string
	answer   chan A // has room for one
}

// SetKeep sets how many answers are kept that have no request yet. The default is 0. The oldest are dropped first.
func (r *Requests[A]) SetKeep(keep int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = keep
	r.trim()
}

// trim drops the oldest kept answers above the limit.
func (r *Requests[A]) trim() {
	if more := len(r.early) - r.keep; more > 0 {
		r.early = slices.Clone(r.early[more:])
	}
}

// Ask opens a request, which can then be answered. The caller must close it.
func (r *Requests[A]) Ask(id string) *Request[A] {
	q := &Request[A]{r, id, make(chan A, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, early := range r.early {
		if early.id == id {
			r.early = append(r.early[:i:i], r.early[i+1:]...)
			q.answer <- early.value
			return q
		}
	}
	if r.open == nil {
		r.open = map[string][]chan A{}
	}
	r.open[id] = append(r.open[id], q.answer)
	return q
}

// Wait returns the answer, or the cause of the context's end.
func (q *Request[A]) Wait(ctx context.Context) (A, error) {
	select {
	case value := <-q.answer:
		return value, nil
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

// Close ends the request. An answer that was not read, and all later ones, go to the next request with the same ID.
func (q *Request[A]) Close() {
	q.requests.mu.Lock()
	defer q.requests.mu.Unlock()
	q.requests.withdraw(q.id, q.answer)
	select {
	case value := <-q.answer:
		q.requests.give(q.id, value)
	default:
	}
}

// withdraw removes an unanswered request.
func (r *Requests[A]) withdraw(id string, request chan A) {
	left := slices.DeleteFunc(r.open[id], func(other chan A) bool { return other == request })
	if len(left) == 0 {
		delete(r.open, id)
		return
	}
	r.open[id] = left
}

// Open reports whether a request with this ID waits for an answer.
func (r *Requests[A]) Open(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open[id]) > 0
}

// Answer answers the oldest request with this ID, and reports whether there was one. Otherwise the answer may be
// kept.
func (r *Requests[A]) Answer(id string, value A) (asked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.give(id, value)
}

func (r *Requests[A]) give(id string, value A) (asked bool) {
	if waiting := r.open[id]; len(waiting) > 0 {
		first := waiting[0]
		r.withdraw(id, first)
		first <- value
		return true
	}
	r.early = append(r.early, answer[A]{id, value})
	r.trim()
	return false
}
