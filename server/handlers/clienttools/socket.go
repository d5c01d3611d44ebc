package clienttools

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/validation"
	"github.com/lockstep-dev/lockstep/server/httpapi/websocket"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// OpenClientSocket answers GET /client-tools/ws/{clientID} (CT 7). The request passed [websocket.Handshake]. The end of
// the socket disconnects the client, whatever the reason.
func (h *Handlers) OpenClientSocket(ctx context.Context, request gen.OpenClientSocketRequestObject) (gen.OpenClientSocketResponseObject, error) {
	return openSocket(func(w http.ResponseWriter) error {
		h.serveSocket(ctx, w, *request.Params.Directory, request.ClientID)
		return nil
	}), nil
}

// openSocket is the response 101, which takes over the connection.
type openSocket func(w http.ResponseWriter) error

// VisitOpenClientSocketResponse serves the socket.
func (o openSocket) VisitOpenClientSocketResponse(w http.ResponseWriter) error { return o(w) }

func (h *Handlers) serveSocket(ctx context.Context, w http.ResponseWriter, directory, clientID string) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	to := events.OfSockets(directory, clientID)
	queue := h.Streams.Bus.Subscribe(to, cancel)
	defer queue.Close()
	h.Registry.leases.connected(directory, clientID, func(request api.ClientToolExecutionRequest) {
		queue.Push(socketFrame("request", "request", request))
	})
	log := h.Streams.Log.With(to.Attrs()...)
	log.Debug("stream opened")
	s := &socket{h.Registry, directory, clientID, queue}
	err := websocket.Serve(ctx, w, queue, websocket.Options{
		Interval: h.Keepalive,
		Room:     h.Messages.Share(),
		Message:  s.message,
		Leave:    func() { h.Registry.Disconnect(directory, clientID) },
	})
	switch slow := context.Cause(ctx); {
	case errors.Is(slow, events.ErrSlowReader):
		log.WarnContext(ctx, "stream dropped", "err", slow)
	case errors.Is(err, conn.ErrStalled):
		log.WarnContext(ctx, "stream dropped", "err", err)
	default:
		log.Debug("stream ended", "err", err)
	}
}

// A socket handles the messages of one WebSocket.
type socket struct {
	registry            *Registry
	directory, clientID string
	queue               *events.Subscription
}

// These are the texts of error messages (CT 7.1, decision S65).
const (
	textInvalidJSON    = "Invalid JSON"
	textInvalidMessage = "Invalid message"
)

// message handles one message (CT 7).
func (s *socket) message(raw []byte) {
	text, ok := body.Parse(raw)
	if !ok {
		s.fail(textInvalidJSON)
		return
	}
	kind := text.Get("type")
	if text.Kind() != "object" || kind.Kind() != "string" {
		s.fail(textInvalidMessage)
		return
	}
	switch kind.Str() {
	case "register":
		s.register(text)
	case "unregister":
		s.unregister(text)
	case "result", "client-tool-response":
		s.result(text)
	case "progress":
		var report api.ProgressRequest
		if s.read(text, progressFields, &report) {
			s.registry.Progress(report)
		}
	}
}

func (s *socket) register(text jsonwire.Text) {
	if jsonwire.CountElements(text, "tools") > s.registry.bounds.MaxTools { // see Bodies
		s.fail(string(tooManyTools.Error.Message))
		return
	}
	var message api.SocketRegister
	if !s.read(text, registerFields, &message) {
		return
	}
	_, err := s.registry.Register(s.directory, Registration{
		ClientID: s.clientID, Tools: message.Tools, Lease: time.Duration(value(message.Lease)) * time.Second,
		Then: func(ids []api.ToolID) { s.queue.Push(socketFrame("registered", "toolIDs", ids)) },
	})
	switch {
	case errors.Is(err, ErrTooManyClients):
		s.fail(string(tooManyClients.Error.Message))
	case err != nil:
		s.fail(string(tooManyTools.Error.Message))
	}
}

func (s *socket) unregister(text jsonwire.Text) {
	var message struct {
		ToolIDs *[]string `json:"toolIDs"`
	}
	switch {
	case !s.read(text, unregisterFields, &message):
	case message.ToolIDs == nil:
		s.registry.UnregisterAll(s.directory, s.clientID)
	default:
		s.registry.Unregister(s.directory, s.clientID, *message.ToolIDs)
	}
}

func (s *socket) result(text jsonwire.Text) {
	var message api.SubmitResultRequest
	if !s.read(text, resultFields, &message) {
		return
	}
	result, failed, err := resultOf(message.Result)
	if err != nil {
		s.fail(textInvalidMessage)
		return
	}
	s.registry.Submit(s.directory, message.RequestID, result, failed)
}

// read reads the fields of a message. If they are not right, it sends the first issue and returns false.
func (s *socket) read(text jsonwire.Text, fields []field, message any) bool {
	var found validation.Issues
	members(text, fields, &found)
	if found.Any() {
		s.fail(found.First())
		return false
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if err := jsonwire.Unmarshal(jsonwire.Object(names, text.Pick(names...)), message); err != nil {
		s.fail(textInvalidMessage) // does not happen: the fields were checked
		return false
	}
	return true
}

func (s *socket) fail(text string) { s.queue.Push(socketFrame("error", "error", text)) }

// socketFrame returns the frame of a message of the server: its type, and one more member.
func socketFrame(kind, name string, value any) []byte {
	message := jsonwire.Object([]string{"type", name}, []jsonwire.Text{jsonwire.Marshal(kind), jsonwire.Marshal(value)})
	return websocket.Text(message)
}
