package turn

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/engine/pending"
)

// A SessionMemory is what a session has in memory, whichever agents it gets. It ends when the session is deleted; a later
// session with the same number gets a new one (decision G30).
type SessionMemory struct {
	// Hold keeps it in memory until release is called.
	Hold func() (release func())

	confirmations pending.Requests[decision]
	elicitations  pending.Requests[json.RawMessage]
	texts         textFiles

	// counted goes up when a reply has changed the session's numbers.
	counted atomic.Int64

	mu      sync.Mutex
	replies int // that run
	over    bool
	stops   map[*context.CancelCauseFunc]bool // of what runs
}

// errDeleted is why a reply is stopped whose session is deleted.
var errDeleted = errors.New("the session is deleted")

// keptAnswers is how many confirmations may come before their questions.
const keptAnswers = 32

// NewSessionMemory returns what a session has at first: nothing.
func NewSessionMemory(hold func() (release func())) *SessionMemory {
	return &SessionMemory{Hold: hold, stops: map[*context.CancelCauseFunc]bool{}}
}

// End stops the replies and the naming of the session. Their contexts have ended when it returns, so that what is closed then
// is no news to them; it does not wait for more.
func (m *SessionMemory) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	for stop := range m.stops {
		(*stop)(errDeleted)
	}
}

// Forget removes the files of the session.
func (m *SessionMemory) Forget() { m.texts.remove() }

// Lasts says whether there is something that outlives agents, and goes with [SessionMemory.Forget] alone.
func (m *SessionMemory) Lasts() bool { return m.texts.any() }

// begin notes that a reply runs until over is called. Answers may come before their questions as long as one does
// (decision M56).
func (m *SessionMemory) begin() (over func()) {
	m.count(1)
	return sync.OnceFunc(func() { m.count(-1) })
}

func (m *SessionMemory) count(replies int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies += replies
	if m.replies > 0 {
		m.confirmations.SetKeep(keptAnswers)
	} else {
		m.confirmations.SetKeep(0)
	}
}

// bounded returns a context that ends with the session, too.
func (m *SessionMemory) bounded(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stops[&cancel] = true
	if m.over {
		cancel(errDeleted)
	}
	return ctx, func(why error) {
		cancel(why)
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.stops, &cancel)
	}
}

// What users may say about a tool that wants to run (GA 8.1). Anything else denies.
const (
	allowOnce   decision = "allow_once"
	alwaysAllow decision = "always_allow"
)

// A decision is a user's answer to whether a tool may run.
type decision string
