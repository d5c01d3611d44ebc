package sse

import "sync"

// A Queue is a [Source] in memory: frames that wait for their stream. It has one reader.
type Queue struct {
	ready chan struct{} // holds a token when there is something new for the reader

	mu     sync.Mutex
	frames [][]byte // those that are not taken yet are frames[taken:]
	taken  int
	bytes  int
	ended  bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{ready: make(chan struct{}, 1)} }

// Ready returns a channel that delivers when frames may have come, or the end.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

// Wake makes Ready deliver.
func (q *Queue) Wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Next takes the oldest frame. It is nil if there is none at the moment, and more is false if there will be none.
func (q *Queue) Next() (frame []byte, more bool) {
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
	return frame, true
}

// Add adds a frame, and reports whether there was room for it. An empty queue has room for any frame. What comes after the end
// is ignored.
func (q *Queue) Add(frame []byte, maxFrames, maxBytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := len(q.frames) - q.taken
	if !q.ended && waiting > 0 && (waiting >= maxFrames || q.bytes+len(frame) > maxBytes) {
		return false
	}
	q.append(frame)
	return true
}

// Force adds a frame without looking for room. It is for the last one of a stream.
func (q *Queue) Force(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.append(frame)
}

func (q *Queue) append(frame []byte) {
	if q.ended {
		return
	}
	if q.taken > 0 && len(q.frames) == cap(q.frames) { // make room at the front rather than grow
		n := copy(q.frames, q.frames[q.taken:])
		clear(q.frames[n:])
		q.frames, q.taken = q.frames[:n], 0
	}
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	q.Wake()
}

// End ends the stream after what is in the queue.
func (q *Queue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.Wake()
}

// Drop ends the stream without what is in the queue. It calls why before the reader can see the end.
func (q *Queue) Drop(why func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	why()
	q.frames, q.taken, q.bytes, q.ended = nil, 0, 0, true
	q.Wake()
}
