package sse

import "sync"

// A Queue is a [Source] in memory: it holds frames until the stream takes them. It has one reader.
type Queue struct {
	ready chan struct{} // has a token if the reader should look again

	mu     sync.Mutex
	frames [][]byte // frames[taken:] are not taken yet
	taken  int
	bytes  int
	ended  bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{ready: make(chan struct{}, 1)} }

// Ready returns a channel that receives a token when there may be frames, or the end.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

// Wake puts a token into the channel of Ready.
func (q *Queue) Wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Next takes the oldest frame. The frame is nil if there is none yet. more is false when no frame will follow.
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

// Add adds a frame, and returns false if there is no room. An empty queue has room for any frame. Frames after the
// end are ignored.
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

// Force adds a frame even if there is no room. It is for the last frame of a stream.
func (q *Queue) Force(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.append(frame)
}

func (q *Queue) append(frame []byte) {
	if q.ended {
		return
	}
	if q.taken > 0 && len(q.frames) == cap(q.frames) { // reuse the space at the front instead of growing
		n := copy(q.frames, q.frames[q.taken:])
		clear(q.frames[n:])
		q.frames, q.taken = q.frames[:n], 0
	}
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	q.Wake()
}

// End ends the stream after the frames in the queue.
func (q *Queue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.Wake()
}

// Drop ends the stream and discards the frames in the queue. It calls why before the reader can see the end.
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
