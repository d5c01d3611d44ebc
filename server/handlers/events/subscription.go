package events

import "github.com/lockstep-dev/lockstep/server/httpapi/sse"

// A Subscription is the queue between the bus and one stream. It is an [sse.Source].
type Subscription struct {
	*sse.Queue
	bus    *Bus
	to     Audience
	drop   func(error)
	opened uint64 // its number among all subscriptions; guarded by the bus, like place
	place  int    // its index in its group
	late   bool   // started after its kind had ended, and unknown to the bus
}

// Close ends the subscription. It must be called once.
func (s *Subscription) Close() {
	if !s.late {
		s.bus.remove(s)
	}
}

// Push adds a frame to the queue, or drops the stream if there is no room for it (decision S16).
func (s *Subscription) Push(frame []byte) {
	if !s.Add(frame, s.bus.limits.MaxEvents, s.bus.limits.MaxBytes) {
		s.Drop(func() { s.drop(ErrSlowReader) })
	}
}
