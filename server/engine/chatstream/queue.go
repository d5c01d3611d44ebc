package chatstream

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
)

// maxQueued is how many events may wait for a slow reader. Then the engine waits too (GA 7.5).
const maxQueued = 100

// maxQueuedBytes limits their size. An empty queue accepts an event of any size.
const maxQueuedBytes = 8 << 20

// A Queue holds the events between an engine and its stream. It is an [sse.Source] with one writer and one reader.
type Queue struct {
	*sse.Queue
	room chan struct{} // has a token when there may be room
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{sse.NewQueue(), make(chan struct{}, 1)} }

// Next takes the oldest event, and signals that there is room.
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
