package body

import "sync"

// InFlight limits the bytes of the bodies of all unanswered requests (decision S40), or of messages. A nil InFlight has no limit.
type InFlight struct {
	most int64

	mu   sync.Mutex
	held int64
}

// NewInFlight returns a limit of the given number of bytes.
func NewInFlight(most int64) *InFlight { return &InFlight{most: most} }

// Share returns an empty share for one body.
func (f *InFlight) Share() *Share { return &Share{of: f} }

// A Share is the part of the limit that one body uses.
type Share struct {
	of   *InFlight
	held int64
}

// Take adds n bytes to the share, and returns false if there is no room. A share that is the only one always has
// room.
func (s *Share) Take(n int64) bool {
	f := s.of
	if f == nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held > s.held && f.held+n > f.most {
		return false
	}
	f.held += n
	s.held += n
	return true
}

// Release gives the share back. It may be called more than once.
func (s *Share) Release() {
	f := s.of
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= s.held
	s.held = 0
}
