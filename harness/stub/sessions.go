package stub

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// maxEarly limits how many requests from before the first scenario are kept.
const maxEarly = 100

// An early request came before the first scenario was attached.
type early struct {
	x       *transcript.Exchange
	at      time.Time
	builtIn bool // it got the server's own response
	why     string
}

// deliver passes the request to a scenario: as its own if the scenario takes all requests, otherwise as an unexpected
// one.
func (e early) deliver(a *session) {
	x := *e.x
	x.Sent, x.Head, x.Done = e.at.Sub(a.started), e.at.Sub(a.started), e.at.Sub(a.started)
	switch {
	case e.builtIn && !a.all:
	case e.builtIn:
		if _, done := a.script.Answer(&x.Request); done != nil {
			done(&x)
		}
	default:
		a.script.Unexpected(&x, e.why)
	}
}

// owner returns the scenario that a request belongs to, and counts one more response in progress for it. If there is
// none, why has the reason, and candidates are the scenarios that the request may belong to.
func (s *Server) owner(r *transcript.Request) (a *session, candidates []*session, why string) {
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

// late reports whether a request belongs to a scenario that is over. The caller holds the lock.
func (s *Server) late(r *transcript.Request) bool {
	for token := range s.over {
		if mentions(r, token) {
			return true
		}
	}
	return false
}

// mentions reports whether a token occurs anywhere in a request.
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

// Forget drops the requests that came before any scenario.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = nil
}

// keep stores a request for the first scenario, unless it belongs to one that is over.
func (s *Server) keep(e early) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.early) < maxEarly && !s.late(&e.x.Request) {
		s.early = append(s.early, e)
	}
}
