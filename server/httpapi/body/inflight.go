package body

import "sync"

// InFlight bounds what has come of the bodies of all requests that are not answered yet (decision S40). A nil InFlight has
// no bound.
type InFlight struct {
	most int64

	mu   sync.Mutex
	held int64
}

// NewInFlight returns a bound of so many bytes.
func NewInFlight(most int64) *InFlight { return &InFlight{most: most} }

// share returns the share of one body, which is empty.
func (f *InFlight) share() *share { return &share{of: f} }

// A share is the part of one body.
type share struct {
	of   *InFlight
	held int64
}

// take makes the share larger. It says whether there was room: a share that is alone always has it.
func (s *share) take(n int64) bool {
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

// release gives the share back. It may be called again.
func (s *share) release() {
	f := s.of
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= s.held
	s.held = 0
}
