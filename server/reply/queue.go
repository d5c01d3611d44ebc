package reply

import (
	"context"
	"sync"
)

// maxQueued is how many events a slow reader may be behind; then the engine waits (GA 7.5).
const maxQueued = 100

// maxQueuedBytes bounds them, too. An event that finds the queue empty is taken whatever its size.
const maxQueuedBytes = 8 << 20

// A queue is between an engine and its stream. It is an sse.Source. It has one writer and one reader.
type queue struct {
	ready chan struct{} // holds a token when there is something new for the reader
	room  chan struct{} // holds a token when there may be room for the writer

	mu     sync.Mutex
	frames [][]byte // those that are not taken yet are frames[taken:]
	taken  int
	bytes  int
	ended  bool
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Ready returns a channel that delivers when frames may have come, or the end.
func (q *queue) Ready() <-chan struct{} { return q.ready }

// Wake makes Ready deliver.
func (q *queue) Wake() { signal(q.ready) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Next takes the oldest frame. It is nil if there is none at the moment, and more is false if there will be none.
func (q *queue) Next() (frame []byte, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken == len(q.frames) {
		q.frames, q.taken = q.frames[:0], 0
		return nil, !q.ended
	}
	frame = q.frames[q.taken]
	q.frames[q.taken] = nil
	q.taken++
	q.bytes -= len(frame)
	signal(q.room)
	return frame, true
}

// push adds a frame, and waits for room. Its error is the cause of the context's end.
func (q *queue) push(ctx context.Context, frame []byte) error {
	for !q.add(frame) {
		select {
		case <-q.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	q.Wake()
	return nil
}

func (q *queue) add(frame []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := len(q.frames) - q.taken
	if waiting >= maxQueued || waiting > 0 && q.bytes+len(frame) > maxQueuedBytes {
		return false
	}
	q.append(frame)
	return true
}

// force adds a frame, and does not wait for room: the last one of a stream.
func (q *queue) force(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.append(frame)
}

func (q *queue) append(frame []byte) {
	if q.taken > 0 && len(q.frames) == cap(q.frames) { // make room at the front rather than grow
		n := copy(q.frames, q.frames[q.taken:])
		clear(q.frames[n:])
		q.frames, q.taken = q.frames[:n], 0
	}
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
}

// end lets the stream end after what is in the queue.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.Wake()
}
