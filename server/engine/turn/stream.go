package turn

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/chatstream"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
)

// A clientStream sends the events of a reply to its client. Only one goroutine may send at a time.
type clientStream struct {
	session *storedSession
	events  *chatstream.Queue
}

// send sends a message with the session's current token counts.
func (c clientStream) send(ctx context.Context, m message.Message) error {
	tokens, err := c.session.numbers(ctx)
	if err != nil {
		return err
	}
	return c.events.Push(ctx, chatstream.Message(m, tokens))
}

// say sends a message of the engine. It has no ID, and is not saved.
func (c clientStream) say(ctx context.Context, content ...message.Content) error {
	return c.send(ctx, message.New(message.Assistant, content...))
}

// pingInterval is the time between two pings (GA 7.4).
const pingInterval = 500 * time.Millisecond

// errGone is the reason for stopping an engine whose stream has ended: the client has left, or the server is
// stopping.
var errGone = errors.New("the stream has ended")

// Serve answers POST /reply. It returns when the stream and the engine have ended; ctx must end with the request.
func (s *Service) Serve(ctx context.Context, w http.ResponseWriter, r Request) {
	a, release := s.Stream(r.SessionID)
	defer release()
	over := a.memory.begin()
	defer over()
	engine, cancel := a.memory.bounded(ctx)
	defer cancel(errGone)
	x, todo, err := s.start(engine, a, r)
	if err != nil {
		if context.Cause(engine) == errDeleted {
			err = notRead(session.ErrNotFound)
		}
		s.refuse(ctx, w, err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer release() // deleting the session waits for this, not for the reader
		defer over()
		x.run(engine, todo)
	}()
	err = sse.Serve(ctx, w, x.client.events, sse.Options{First: chatstream.Ping, Keepalive: chatstream.Ping, Interval: pingInterval, Ends: true})
	s.Log.Debug("reply ended", "session", r.SessionID, "err", err)
	cancel(errGone)
	<-done
}

// refuse answers with a single event that says why there is no reply (GA 7.3). The status is still 200, because
// clients would otherwise retry forever.
func (s *Service) refuse(ctx context.Context, w http.ResponseWriter, why error) {
	q := chatstream.NewQueue()
	_ = q.Push(ctx, chatstream.Error(clientMessage(why))) // there is room
	q.End()
	err := sse.Serve(ctx, w, q, sse.Options{Ends: true})
	s.Log.Debug("reply refused", "err", errors.Join(why, err))
}
