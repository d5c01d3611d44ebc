package events

import (
	"context"
	"net/http"
	"time"

	gen "github.com/lockstep-dev/lockstep/gen/server"
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
