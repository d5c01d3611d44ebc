package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Handlers implement the operations under /client-tools of the contract. Their bodies were checked by [Bodies], and
// their parameters name exactly one directory.
type Handlers struct {
	Registry *Registry
	Guards   *Guards
	Streams  *events.Streams
	// ServerTools returns the tools of the server that the model of a session is offered, or nil if there is no such
	// session.
	ServerTools func(ctx context.Context, sessionID string) (api.ServerToolList, error)
	// Compose calls one of these tools for the client of an execution that belongs to no reply.
	Compose func(ctx context.Context, sessionID string, call toolbox.ServerCall) message.ToolResult
	// DefaultTimeout is how long an execution waits if its caller does not say.
	DefaultTimeout time.Duration
	// Messages limits the large messages of all sockets.
	Messages *body.InFlight
	// Keepalive is the time between two pings of a pending stream.
	Keepalive time.Duration
}

// RegisterClientTools answers POST /client-tools/register (CT 4.1).
func (h *Handlers) RegisterClientTools(_ context.Context, request gen.RegisterClientToolsRequestObject) (gen.RegisterClientToolsResponseObject, error) {
	ids, err := h.Registry.Register(*request.Params.Directory, Registration{
		ClientID: request.Body.ClientID, Tools: request.Body.Tools, Lease: time.Duration(value(request.Body.Lease)) * time.Second,
	})
	switch {
	case errors.Is(err, ErrTooManyTools):
		return gen.RegisterClientTools429JSONResponse{Of: response.Value(tooManyTools)}, nil
	case errors.Is(err, ErrTooManyClients):
		return gen.RegisterClientTools429JSONResponse{Of: response.Value(tooManyClients)}, nil
	case err != nil:
		return nil, err
	}
	return gen.RegisterClientTools200JSONResponse{Of: response.Value(api.RegisterResult{Registered: ids})}, nil
}

// UnregisterClientTools answers DELETE /client-tools/unregister (CT 4.2).
func (h *Handlers) UnregisterClientTools(_ context.Context, request gen.UnregisterClientToolsRequestObject) (gen.UnregisterClientToolsResponseObject, error) {
	var removed []api.ToolID
	if names := request.Body.ToolIDs; names != nil {
		removed = h.Registry.Unregister(*request.Params.Directory, request.Body.ClientID, *names)
	} else {
		removed = h.Registry.UnregisterAll(*request.Params.Directory, request.Body.ClientID)
	}
	result := api.UnregisterResult{Success: api.UnregisterResultSuccessTrue, Unregistered: removed}
	return gen.UnregisterClientTools200JSONResponse{Of: response.Value(result)}, nil
}

// SubmitClientToolResult answers POST /client-tools/result (CT 4.3).
func (h *Handlers) SubmitClientToolResult(_ context.Context, request gen.SubmitClientToolResultRequestObject) (gen.SubmitClientToolResultResponseObject, error) {
	result, failed, err := resultOf(request.Body.Result)
	if err != nil {
		return nil, err
	}
	if !h.Registry.Submit(*request.Params.Directory, request.Body.RequestID, result, failed) {
		return gen.SubmitClientToolResult404JSONResponse{Of: response.Value(unknownRequest)}, nil
	}
	return gen.SubmitClientToolResult200JSONResponse{Of: response.Value(accepted)}, nil
}

var (
	accepted       = api.SubmitResultResult{Success: api.SubmitResultResultSuccessTrue}
	unknownRequest = api.UnknownRequestError{Error: api.UnknownRequestErrorErrorUnknownRequestID}
)

// ReportClientToolProgress answers POST /client-tools/progress (CT 14.2).
func (h *Handlers) ReportClientToolProgress(_ context.Context, request gen.ReportClientToolProgressRequestObject) (gen.ReportClientToolProgressResponseObject, error) {
	if !h.Registry.Progress(request.Body) {
		return gen.ReportClientToolProgress404JSONResponse{Of: response.Value(unknownRequest)}, nil
	}
	return gen.ReportClientToolProgress200JSONResponse{Of: response.Value(accepted)}, nil
}

// resultOf reads the client's answer: a result, or the text of an error.
func resultOf(union api.ClientToolResponse) (result Result, failed *string, err error) {
	raw, err := union.MarshalJSON()
	if err != nil {
		return result, nil, fmt.Errorf("read the result: %w", err)
	}
	text := jsonwire.Text(raw) // decoded here, because the union's own methods lose lone surrogates
	if text.Get("status").Str() == string(api.ClientToolErrorStatusError) {
		var failure api.ClientToolError
		err := jsonwire.Unmarshal(text, &failure)
		return result, &failure.Error, err
	}
	var success api.ClientToolSuccess
	err = jsonwire.Unmarshal(text, &success)
	return Result{
		ClientToolResult: api.ClientToolResult{
			Status:   api.ClientToolResultStatusSuccess,
			Title:    success.Title,
			Output:   success.Output,
			Metadata: success.Metadata,
		},
		Attachments: value(success.Attachments),
	}, nil, err
}

// ExecuteClientTool answers POST /client-tools/execute (CT 4.4). It returns an error if the caller has left.
func (h *Handlers) ExecuteClientTool(ctx context.Context, request gen.ExecuteClientToolRequestObject) (gen.ExecuteClientToolResponseObject, error) {
	result, err := h.Guards.Execute(ctx, *request.Params.Directory, h.call(request.Body))
	if err != nil {
		return notExecuted(err)
	}
	return gen.ExecuteClientTool200JSONResponse{Of: response.Value(result.ClientToolResult)}, nil
}

func (h *Handlers) call(r api.ExecuteRequest) Call {
	call := Call{
		ToolID:    r.ToolID,
		RequestID: value(r.RequestID),
		SessionID: value(r.SessionID),
		MessageID: value(r.MessageID),
		CallID:    value(r.CallID),
		Input:     json.RawMessage("{}"),
		Timeout:   h.DefaultTimeout,
	}
	if r.Input != nil {
		call.Input = *r.Input
	}
	if ms := value(r.Timeout); ms > 0 {
		call.Timeout = time.Duration(ms) * time.Millisecond
	}
	return call
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// AnswerPermission answers POST /session/{sessionID}/permissions/{permissionID} (CT 10.2, decision S67).
func (h *Handlers) AnswerPermission(_ context.Context, request gen.AnswerPermissionRequestObject) (gen.AnswerPermissionResponseObject, error) {
	h.Guards.Answer(request.PermissionID, request.Body.Response)
	return gen.AnswerPermission200JSONResponse{Of: response.Value(true)}, nil
}

// ListClientTools answers GET /client-tools/tools/{clientID} (CT 4.5).
func (h *Handlers) ListClientTools(_ context.Context, request gen.ListClientToolsRequestObject) (gen.ListClientToolsResponseObject, error) {
	return gen.ListClientTools200JSONResponse{Of: response.Value[api.ClientToolList](h.Registry.Tools(request.ClientID))}, nil
}

// ListAllClientTools answers GET /client-tools/tools (CT 4.6).
func (h *Handlers) ListAllClientTools(context.Context, gen.ListAllClientToolsRequestObject) (gen.ListAllClientToolsResponseObject, error) {
	return gen.ListAllClientTools200JSONResponse{Of: toolsByID(h.Registry.AllTools())}, nil
}

// ListServerTools answers GET /client-tools/server-tools (CT 14.1).
func (h *Handlers) ListServerTools(ctx context.Context, request gen.ListServerToolsRequestObject) (gen.ListServerToolsResponseObject, error) {
	tools, err := h.ServerTools(ctx, value(request.Params.SessionID))
	if err != nil {
		return nil, err
	}
	if tools == nil {
		return gen.ListServerTools404JSONResponse{Of: response.Value(api.UnknownSessionError{Error: api.UnknownSessionErrorErrorUnknownSession})}, nil
	}
	return gen.ListServerTools200JSONResponse{Of: response.Value(tools)}, nil
}

// Pending has the options that all pending streams share.
var Pending = sse.Options{Keepalive: sse.Event("ping", nil), Unbuffered: true}

// StreamPendingRequests answers GET /client-tools/pending/{clientID} (CT 5.1). The end of the stream disconnects the
// client, whatever the reason.
func (h *Handlers) StreamPendingRequests(ctx context.Context, request gen.StreamPendingRequestsRequestObject) (gen.StreamPendingRequestsResponseObject, error) {
	directory, clientID := *request.Params.Directory, request.ClientID
	opts := Pending
	opts.Interval = h.Keepalive
	return gen.StreamPendingRequests200TextEventStreamResponse{Writer: response.Stream(func(w http.ResponseWriter) {
		defer h.Registry.Disconnect(directory, clientID)
		h.Streams.ServeOpened(ctx, w, events.OfClient(directory, clientID), opts, func(queue *events.Subscription) {
			h.Registry.leases.connected(directory, clientID, func(request api.ClientToolExecutionRequest) { queue.Push(streamFrame(request)) })
		})
	})}, nil
}
