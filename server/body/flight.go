package body

import "sync"

// A Flight bounds what has come of the bodies of all requests that are not answered yet (decision S40). A nil Flight has
// no bound.
type Flight struct {
	most int64

	mu   sync.Mutex
	held int64
}

// NewFlight returns a flight of so many bytes.
func NewFlight(most int64) *Flight { return &Flight{most: most} }

// share returns the share of one body, which is empty.
func (f *Flight) share() *share { return &share{flight: f} }

// A share is what one body has of a flight.
type share struct {
	flight *Flight
	held   int64
}

// take makes the share larger. It says whether there was room: a share that is alone always has it.
func (s *share) take(n int64) bool {
	f := s.flight
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
	f := s.flight
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= s.held
	s.held = 0
}
