package signin

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// A queue orders the steps on one secret.
type queue struct {
	turn  chan struct{} // has room for the running step
	users int           // guarded by the lock of the sign-ins
}

// step does something with the secret of an extension, while nothing else does (decision X56). It has begun when the
// context ends: then it is completed, and its result is dropped. So a token that a server has just replaced is not lost.
func step[T any](ctx context.Context, s *SignIns, name string, do func(ctx context.Context) (T, error)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	var none T
	q, err := s.enqueue(name)
	if err != nil {
		return none, err
	}
	done := make(chan outcome, 1)
	go func() {
		defer s.working.Done()
		defer s.dequeue(name, q)
		select {
		case q.turn <- struct{}{}:
			defer func() { <-q.turn }()
		case <-ctx.Done():
			return
		}
		result, err := do(s.ctx)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

func (s *SignIns) enqueue(name string) (*queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, mcperror.Closed
	}
	q := s.steps[name]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		s.steps[name] = q
	}
	q.users++
	s.working.Add(1)
	return q, nil
}

func (s *SignIns) dequeue(name string, q *queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(s.steps, name)
	}
}
