package events

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
)

// Handlers implement the operations streamEvents and streamGlobalEvents of the contract.
type Handlers struct {
	Streams *Streams
	// Keepalive is the time between two comments on the streams of directories (decision S17).
	Keepalive time.Duration
}

var (
	connected = sse.Data([]byte(`{"type":"server.connected","properties":{}}`))
	heartbeat = sse.Comment("heartbeat")
)

// StreamEvents answers GET /event (CT 5.2).
func (h *Handlers) StreamEvents(ctx context.Context, request gen.StreamEventsRequestObject) (gen.StreamEventsResponseObject, error) {
	return gen.StreamEvents200TextEventStreamResponse{Writer: response.Stream(func(w http.ResponseWriter) {
		h.Streams.Serve(ctx, w, InDirectory(*request.Params.Directory), sse.Options{
			First: connected, Keepalive: heartbeat, Interval: h.Keepalive,
		})
	})}, nil
}

// StreamGlobalEvents answers GET /global/event (CT 5.3). The stream has only events.
func (h *Handlers) StreamGlobalEvents(ctx context.Context, _ gen.StreamGlobalEventsRequestObject) (gen.StreamGlobalEventsResponseObject, error) {
	return gen.StreamGlobalEvents200TextEventStreamResponse{Writer: response.Stream(func(w http.ResponseWriter) {
		h.Streams.Serve(ctx, w, Everywhere(), sse.Options{})
	})}, nil
}

// Streams answers requests with streams of a bus's events.
type Streams struct {
	Bus *Bus
	Log *slog.Logger
}

// Serve answers one request with the stream of an audience. It returns when the stream has ended; ctx must end with
// the request. The subscription starts before the head of the answer is sent, so a client that has the head misses no
// event.
func (s *Streams) Serve(ctx context.Context, w http.ResponseWriter, to Audience, opts sse.Options) {
	s.ServeOpened(ctx, w, to, opts, func(*Subscription) {})
}

// ServeOpened is like Serve, and calls opened when the subscription has started.
func (s *Streams) ServeOpened(ctx context.Context, w http.ResponseWriter, to Audience, opts sse.Options, opened func(*Subscription)) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := s.Bus.Subscribe(to, cancel)
	defer queue.Close()
	opened(queue)

	log := s.Log.With(to.Attrs()...)
	log.Debug("stream opened")
	switch err := sse.Serve(ctx, w, queue, opts); {
	case errors.Is(err, ErrSlowReader), errors.Is(err, conn.ErrStalled):
		log.WarnContext(ctx, "stream dropped", "err", err)
	default:
		log.Debug("stream ended", "err", err)
	}
}
