package reply

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/server/sse"
	"github.com/lockstep-dev/lockstep/server/store"
)

// pingInterval is the time between two pings (GA 7.4).
const pingInterval = 500 * time.Millisecond

// errGone is why an engine is stopped: its stream has ended, because the client has gone or the server stops.
var errGone = errors.New("the stream has ended")

// Serve answers POST /reply. It returns when the stream and the engine have ended; ctx must end with the request.
func (s *Service) Serve(ctx context.Context, w http.ResponseWriter, r Request) {
	a, release := s.Stream(r.SessionID)
	defer release()
	over := a.live.begin()
	defer over()
	engine, cancel := a.live.bounded(ctx)
	defer cancel(errGone)
	x, todo, err := s.start(engine, a, r)
	if err != nil {
		if context.Cause(engine) == errDeleted {
			err = notRead(store.ErrNotFound)
		}
		s.refuse(ctx, w, err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer release() // who deletes the session waits for this, and not for the reader
		defer over()
		x.run(engine, todo)
	}()
	err = sse.Serve(ctx, w, x.out, sse.Options{First: ping, Keepalive: ping, Interval: pingInterval, Ends: true})
	s.Log.Debug("reply ended", "session", r.SessionID, "err", err)
	cancel(errGone)
	<-done
}

// refuse answers with the one event that tells why there is no reply (GA 7.3). The status is 200 all the same: clients
// would repeat the request for ever.
func (s *Service) refuse(ctx context.Context, w http.ResponseWriter, why error) {
	q := newQueue()
	_ = q.push(ctx, errorEvent(told(why))) // there is room
	q.end()
	err := sse.Serve(ctx, w, q, sse.Options{Ends: true})
	s.Log.Debug("reply refused", "err", errors.Join(why, err))
}
