package reply

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/questions"
)

// A Live is what a session has in memory, whichever agents it gets. It ends when the session is deleted: a later session
// with the same number has a Live of its own (decision G30).
type Live struct {
	// Hold keeps the Live in memory until release is called.
	Hold func() (release func())

	confirmations questions.Board[decision]
	elicitations  questions.Board[json.RawMessage]
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

// NewLive returns what a session has at first: nothing.
func NewLive(hold func() (release func())) *Live {
	return &Live{Hold: hold, stops: map[*context.CancelCauseFunc]bool{}}
}

// End stops the replies and the naming of the session. Their contexts have ended when it returns, so that what is closed then
// is no news to them; it does not wait for more.
func (l *Live) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for stop := range l.stops {
		(*stop)(errDeleted)
	}
}

// Forget removes the files of the session.
func (l *Live) Forget() { l.texts.remove() }

// Lasts says whether there is something that outlives agents, and goes with [Live.Forget] alone.
func (l *Live) Lasts() bool { return l.texts.any() }

// begin notes that a reply runs until over is called. Answers may come before their questions as long as one does
// (decision M56).
func (l *Live) begin() (over func()) {
	l.count(1)
	return sync.OnceFunc(func() { l.count(-1) })
}

func (l *Live) count(replies int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replies += replies
	if l.replies > 0 {
		l.confirmations.SetKeep(keptAnswers)
	} else {
		l.confirmations.SetKeep(0)
	}
}

// bounded returns a context that ends with the session, too.
func (l *Live) bounded(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stops[&cancel] = true
	if l.over {
		cancel(errDeleted)
	}
	return ctx, func(why error) {
		cancel(why)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.stops, &cancel)
	}
}
