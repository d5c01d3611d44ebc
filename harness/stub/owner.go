package stub

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// mostEarly is how many requests are kept that came before any scenario.
const mostEarly = 100

// An early request came when no scenario was there to ask.
type early struct {
	x        *transcript.Exchange
	at       time.Time
	standing bool // it got what the server answers by itself
	why      string
}

// tell hands the request to the first scenario that comes: as one of its own when all are, else as a stray.
func (e early) tell(a *session) {
	x := *e.x
	x.Sent, x.Head, x.Done = e.at.Sub(a.started), e.at.Sub(a.started), e.at.Sub(a.started)
	switch {
	case e.standing && !a.all:
	case e.standing:
		if _, told := a.script.Answer(&x.Request); told != nil {
			told(&x)
		}
	default:
		a.script.Stray(&x, e.why)
	}
}

// owner returns the scenario that a request belongs to, held until it is answered. Without one, why says so, and strays
// are the scenarios that it may be of.
func (s *Server) owner(r *transcript.Request) (a *session, strays []*session, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var owners []*session
	for _, a := range s.sessions {
		if a.all || mentions(r, a.token) {
			owners = append(owners, a)
		}
	}
	switch {
	case len(owners) == 1:
		owners[0].answers.Add(1)
		return owners[0], nil, ""
	case len(owners) > 1:
		return nil, owners, fmt.Sprintf("it has the unique tokens of %d scenarios in it", len(owners))
	case s.late(r):
		return nil, nil, "the scenario that it belongs to is over"
	}
	return nil, s.sessions[:len(s.sessions):len(s.sessions)], "no scenario's ${{ unique }} is in it, so nobody knows which it belongs to: " +
		"let the scenario put ${{ unique }} into a message, or use isolate: fresh"
}

// late reports whether a request belongs to a scenario that is over. The mutex is held.
func (s *Server) late(r *transcript.Request) bool {
	for token := range s.over {
		if mentions(r, token) {
			return true
		}
	}
	return false
}

// mentions reports whether a token stands anywhere in a request.
func mentions(r *transcript.Request, token string) bool {
	if token == "" {
		return false
	}
	if strings.Contains(r.Target, token) || bytes.Contains(r.Body.Bytes, []byte(token)) {
		return true
	}
	for _, f := range r.Header {
		if strings.Contains(f.Value, token) {
			return true
		}
	}
	return false
}

// stray tells of a request that nobody has answered.
func (s *Server) stray(x *transcript.Exchange, at time.Time, strays []*session, why string) {
	for _, a := range strays {
		e := early{x: x, at: at, why: why}
		e.tell(a)
	}
}

// Forget forgets the requests that came before any scenario.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = nil
}

// keep keeps a request that came before any scenario, for the first one to hear of.
func (s *Server) keep(e early) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.early) < mostEarly {
		s.early = append(s.early, e)
	}
}
