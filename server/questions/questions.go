// Package questions has what an agent asks its user, and waits for: whether a tool may run (GA 8.2), or what an MCP server
// wants to know (GA 8.3). Question and answer come by different requests; an id brings them together. Several questions may
// have one id: each answer is for the one that was asked first (decision M56).
package questions

import (
	"context"
	"slices"
	"sync"
)

// A Board has the open questions of one agent, whose answers are an A. The zero Board is empty.
type Board[A any] struct {
	mu    sync.Mutex
	keep  int
	open  map[string][]chan A // without their answers, the oldest first
	early []answer[A]         // the oldest first
}

type answer[A any] struct {
	id    string
	value A
}

// A Question waits for its answer.
type Question[A any] struct {
	board  *Board[A]
	id     string
	answer chan A // has room for one
}

// SetKeep sets how many answers are kept that come before their questions, none at first; the oldest go first.
func (b *Board[A]) SetKeep(keep int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep = keep
	b.trim()
}

// trim drops the answers that are too many.
func (b *Board[A]) trim() {
	if more := len(b.early) - b.keep; more > 0 {
		b.early = slices.Clone(b.early[more:])
	}
}

// Ask opens a question, so that it can be answered from now on. Who asks must Close it.
func (b *Board[A]) Ask(id string) *Question[A] {
	q := &Question[A]{b, id, make(chan A, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, early := range b.early {
		if early.id == id {
			b.early = append(b.early[:i:i], b.early[i+1:]...)
			q.answer <- early.value
			return q
		}
	}
	if b.open == nil {
		b.open = map[string][]chan A{}
	}
	b.open[id] = append(b.open[id], q.answer)
	return q
}

// Wait returns the answer, or the cause of the context's end.
func (q *Question[A]) Wait(ctx context.Context) (A, error) {
	select {
	case value := <-q.answer:
		return value, nil
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

// Close ends the question. An answer that nobody has waited for is for the next question, as are those that come later.
func (q *Question[A]) Close() {
	q.board.mu.Lock()
	defer q.board.mu.Unlock()
	q.board.withdraw(q.id, q.answer)
	select {
	case value := <-q.answer:
		q.board.give(q.id, value)
	default:
	}
}

// withdraw takes a question back, unless it is answered.
func (b *Board[A]) withdraw(id string, question chan A) {
	left := slices.DeleteFunc(b.open[id], func(other chan A) bool { return other == question })
	if len(left) == 0 {
		delete(b.open, id)
		return
	}
	b.open[id] = left
}

// Open says whether a question waits for its answer.
func (b *Board[A]) Open(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open[id]) > 0
}

// Answer answers a question, and says whether there is one. If there is none, the answer may be kept for it.
func (b *Board[A]) Answer(id string, value A) (asked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.give(id, value)
}

func (b *Board[A]) give(id string, value A) (asked bool) {
	if waiting := b.open[id]; len(waiting) > 0 {
		first := waiting[0]
		b.withdraw(id, first)
		first <- value
		return true
	}
	b.early = append(b.early, answer[A]{id, value})
	b.trim()
	return false
}
