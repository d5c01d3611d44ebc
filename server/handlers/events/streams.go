package events

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
)

// Streams answers requests with streams of a bus's events.
type Streams struct {
	Bus *Bus
	Log *slog.Logger
}

// Serve answers one request with the stream of an audience. It returns when the stream has ended; ctx must end with
// the request. The subscription starts before the head of the answer is sent, so a client that has the head misses no
// event.
func (s *Streams) Serve(ctx context.Context, w http.ResponseWriter, to Audience, opts sse.Options) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := s.Bus.Subscribe(to, cancel)
	defer queue.Close()

	log := s.Log.With(to.attrs()...)
	log.Debug("stream opened")
	switch err := sse.Serve(ctx, w, queue, opts); {
	case errors.Is(err, ErrSlowReader), errors.Is(err, conn.ErrStalled):
		log.Warn("stream dropped", "err", err)
	default:
		log.Debug("stream ended", "err", err)
	}
}
