package turn

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/engine/pending"
)

// A SessionMemory is the state of a session in memory, which its agents share. It ends when the session is deleted. A
// later session with the same number gets a new one (decision G30).
type SessionMemory struct {
	// Hold keeps it in memory until release is called.
	Hold func() (release func())

	confirmations pending.Requests[decision]
	elicitations  pending.Requests[json.RawMessage]
	texts         textFiles

	// counted increases when a reply has changed the session's token counts.
	counted atomic.Int64

	mu      sync.Mutex
	replies int // how many replies are running
	over    bool
	stops   map[*context.CancelCauseFunc]bool // stops the replies and naming calls that are running
}

// errDeleted is the reason for stopping a reply whose session was deleted.
var errDeleted = errors.New("the session is deleted")

// keptAnswers is how many confirmations may arrive before their questions.
const keptAnswers = 32

// NewSessionMemory returns the empty memory of a session.
func NewSessionMemory(hold func() (release func())) *SessionMemory {
	return &SessionMemory{Hold: hold, stops: map[*context.CancelCauseFunc]bool{}}
}

// End stops the replies and the naming of the session. When it returns, their contexts have ended, so that closing
// connections afterwards causes no errors in them. It does not wait until they have returned.
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

// Lasts reports whether the session has files, which outlive agents until [SessionMemory.Forget] removes them.
func (m *SessionMemory) Lasts() bool { return m.texts.any() }

// begin records a running reply until over is called. While a reply runs, answers may arrive before their questions
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

// bounded returns a context that also ends with the session.
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

// These are the answers of a user to whether a tool may run (GA 8.1). Anything else denies it.
const (
	allowOnce   decision = "allow_once"
	alwaysAllow decision = "always_allow"
)

// A decision is a user's answer to whether a tool may run.
type decision string
