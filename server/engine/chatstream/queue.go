package chatstream

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
)

// maxQueued is how many events a slow reader may be behind; then the engine waits (GA 7.5).
const maxQueued = 100

// maxQueuedBytes bounds them, too. An event that finds the queue empty is taken whatever its size.
const maxQueuedBytes = 8 << 20

// A Queue holds the events between an engine and its stream. It is an [sse.Source]. It has one writer and one reader.
type Queue struct {
	*sse.Queue
	room chan struct{} // holds a token when there may be room for the writer
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{sse.NewQueue(), make(chan struct{}, 1)} }

// Next takes the oldest event, which makes room.
func (q *Queue) Next() (frame []byte, more bool) {
	frame, more = q.Queue.Next()
	select {
	case q.room <- struct{}{}:
	default:
	}
	return frame, more
}

// Push adds an event, and waits for room. Its error is the cause of the context's end.
func (q *Queue) Push(ctx context.Context, frame []byte) error {
	for !q.Add(frame, maxQueued, maxQueuedBytes) {
		select {
		case <-q.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
