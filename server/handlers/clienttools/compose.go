package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// maxComposed is how many tools of the server an execution may call (CT 14.3).
const maxComposed = 100

// CallServerTool answers POST /client-tools/call (CT 14.3, decision S80). It returns an error if the caller has left.
func (h *Handlers) CallServerTool(ctx context.Context, request gen.CallServerToolRequestObject) (gen.CallServerToolResponseObject, error) {
	e, ok := expectedBy(h.Registry, request.Body.RequestID)
	if !ok {
		return unknownCall(api.UnknownCallErrorErrorUnknownRequestID), nil
	}
	bounded, cancel := e.bounded(ctx)
	defer cancel()
	tools, err := h.ServerTools(bounded, e.request.SessionID)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case e.running.Err() != nil:
		return called(message.FailedResult(textEnded))
	case err != nil:
		return nil, err
	case tools == nil:
		return unknownCall(api.UnknownCallErrorErrorUnknownRequestID), nil
	}
	at := slices.IndexFunc(tools, func(tool api.ServerTool) bool { return tool.ID == request.Body.Tool })
	if at < 0 {
		return unknownCall(api.UnknownCallErrorErrorUnknownTool), nil
	}
	n, ok := e.count()
	if !ok {
		return gen.CallServerTool429JSONResponse{Of: response.Value(api.RateLimitedError{
			Error: api.RateLimited{Code: api.RateLimitedCodeRATELIMITED, Message: "Too many calls"},
		})}, nil
	}
	result := h.compose(bounded, e, toolbox.ServerCall{
		RequestID: fmt.Sprintf("%s.%d", e.request.CallID, n),
		Tool:      message.Tool{Name: tools[at].ID, Description: tools[at].Description, Schema: tools[at].Parameters},
		Arguments: input(request.Body),
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if e.running.Err() != nil {
		result = message.FailedResult(textEnded)
	}
	return called(result)
}

// textEnded is the error of a call whose execution has ended (decision S82).
const textEnded = "The execution has ended"

var errEnded = errors.New("the execution has ended")

// expectedBy returns the pending execution that waits for its client.
func expectedBy(r *Registry, requestID string) (e *Execution, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending.expected(requestID)
}

// count counts a call that the client of an execution makes, and returns its number, or false if there were too many.
func (e *Execution) count() (n int, ok bool) {
	n = int(e.composed.Add(1))
	return n, n <= maxComposed
}

// bounded returns a context that also ends with the execution.
func (e *Execution) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.running, func() { cancel(errEnded) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// compose calls a tool of the server where the execution runs.
func (h *Handlers) compose(ctx context.Context, e *Execution, call toolbox.ServerCall) message.ToolResult {
	if e.compose != nil {
		return e.compose(ctx, call)
	}
	return h.Compose(ctx, e.request.SessionID, call)
}

// input returns the arguments of a call, as those of a model: without lone surrogates.
func input(r api.CallRequest) json.RawMessage {
	if r.Input == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(jsonwire.Text(*r.Input).WellFormed())
}

func unknownCall(why api.UnknownCallErrorError) gen.CallServerToolResponseObject {
	return gen.CallServerTool404JSONResponse{Of: response.Value(api.UnknownCallError{Error: why})}
}

// called returns the answer with a tool's result (decision S81).
func called(result message.ToolResult) (gen.CallServerToolResponseObject, error) {
	encoded, err := response.Encoded[api.CallResult](func(w *jsonwire.Writer) error {
		if result.Error != nil {
			w.Value(api.ResultError{Status: api.ResultErrorStatusError, Error: *result.Error})
			return nil
		}
		w.Open('{')
		w.Name("status").String(string(api.CallSuccessStatusSuccess))
		w.Name("content")
		jsonwire.Array(w, result.Value, message.ToolContent.Write)
		w.Close('}')
		return nil
	})
	return gen.CallServerTool200JSONResponse{Of: encoded}, err
}
