package events

import "sync"

// A Subscription is the queue between the bus and one stream. It is an sse.Source.
type Subscription struct {
	bus    *Bus
	to     Audience
	drop   func(error)
	opened uint64 // its rank among all subscriptions; guarded by the bus, like place
	place  int    // its index in its group
	late   bool   // begun when its kind had ended already, and unknown to the bus

	ready chan struct{} // holds a token when the queue has something to say

	mu     sync.Mutex
	queue  [][]byte // the frames that are not taken yet are queue[taken:]
	taken  int
	bytes  int
	closed bool // nothing comes after what is in the queue
}

// Ready returns a channel that delivers when frames may have come, or the end.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Wake makes Ready deliver.
func (s *Subscription) Wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next takes the oldest frame from the queue. It is nil if there is none at the moment, and more is false if there will
// be none any more.
func (s *Subscription) Next() (frame []byte, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == len(s.queue) {
		s.queue, s.taken = s.queue[:0], 0
		return nil, !s.closed
	}
	frame = s.queue[s.taken]
	s.queue[s.taken] = nil
	s.taken++
	s.bytes -= len(frame)
	return frame, true
}

// Close ends the subscription. It is called once.
func (s *Subscription) Close() {
	if !s.late {
		s.bus.remove(s)
	}
}

// push adds a frame to the queue, or drops the stream if there is no room for it. An empty queue has room for any frame
// (decision S16).
func (s *Subscription) push(frame []byte, limits Options) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	waiting := len(s.queue) - s.taken
	if waiting > 0 && (waiting+1 > limits.MaxEvents || s.bytes+len(frame) > limits.MaxBytes) {
		s.drop(ErrSlowReader) // before the stream can see that its queue has ended, so that it knows why
		s.queue, s.taken, s.bytes, s.closed = nil, 0, 0, true
		s.mu.Unlock()
		s.Wake()
		return
	}
	if s.taken > 0 && len(s.queue) == cap(s.queue) { // make room at the front rather than grow
		n := copy(s.queue, s.queue[s.taken:])
		clear(s.queue[n:])
		s.queue, s.taken = s.queue[:n], 0
	}
	s.queue = append(s.queue, frame)
	s.bytes += len(frame)
	s.mu.Unlock()
	s.Wake()
}

// finish lets the stream end after what is in its queue.
func (s *Subscription) finish() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Wake()
}
