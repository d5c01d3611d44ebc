package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Errors of Execute.
var (
	ErrToolNotFound   = errors.New("tool not found")
	ErrRequestPending = errors.New("request ID is already pending")
)

// A Failure says why a started execution has no result. Its text appears in the event client-tool.failed.
type Failure struct {
	Text     string
	TimedOut bool
}

func (f *Failure) Error() string { return f.Text }

const (
	textDisconnected = "Client disconnected"
	textShuttingDown = "Server is shutting down"
)

// A Call is a caller's request to execute a tool.
type Call struct {
	ToolID                       string // the full ID
	ClientID                     string // of the clients that have the tool, this one; "" means the first one
	RequestID                    string // generated if empty
	SessionID, MessageID, CallID string
	Input                        json.RawMessage // an object
	Timeout                      time.Duration
}

// An execution is waiting for its result.
type execution struct {
	directory string
	client    string
	request   api.ClientToolExecutionRequest
	outcome   chan outcome // has room for the only one
}

// A Result is the result that a client has sent.
type Result struct {
	api.ClientToolResult
	Attachments json.RawMessage // for turns of a model; any JSON, or nil
}

// An outcome is a failure, or a result if failure is nil.
type outcome struct {
	result  Result
	failure *Failure
}

// Execute runs a tool on its client. It waits for the result, the timeout, the client's disconnect or the end of ctx
// (CT 8.1). Its error is [ErrToolNotFound], [ErrRequestPending], a [*Failure], or the cause of the end of ctx. When
// ctx ends, the execution is withdrawn without an event (CT 4.4).
func (r *Registry) Execute(ctx context.Context, directory string, call Call) (Result, error) {
	e, err := r.start(directory, call)
	if err != nil {
		return Result{}, err
	}
	timer := time.NewTimer(call.Timeout)
	defer timer.Stop()
	var o outcome
	select {
	case o = <-e.outcome:
	case <-timer.C:
		r.timeOut(e, call.Timeout)
		o = <-e.outcome // the timeout, or a result that came first
	case <-ctx.Done():
		r.withdraw(e)
		return Result{}, context.Cause(ctx)
	}
	if o.failure != nil {
		return Result{}, o.failure
	}
	return o.result, nil
}

// start finds the tool, announces the execution, and adds it to the pending ones.
func (r *Registry) start(directory string, call Call) (*execution, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client, found := r.owners.executor(call)
	switch {
	case !found:
		return nil, ErrToolNotFound
	case r.stopped:
		return nil, &Failure{Text: textShuttingDown}
	}
	if call.RequestID == "" {
		call.RequestID = r.newRequestID(client, call.CallID)
	} else if _, ok := r.pending.get(call.RequestID); ok {
		return nil, ErrRequestPending
	}
	e := &execution{
		directory: directory,
		client:    client,
		request: api.ClientToolExecutionRequest{
			Type:      api.ClientToolExecutionRequestTypeClientToolRequest,
			RequestID: call.RequestID,
			SessionID: call.SessionID,
			MessageID: call.MessageID,
			CallID:    call.CallID,
			Tool:      call.ToolID,
			Input:     call.Input,
		},
		outcome: make(chan outcome, 1),
	}
	r.bus.Publish(directory, api.ClientToolExecutingEvent{
		Type: api.ClientToolExecutingEventTypeClientToolExecuting,
		Properties: api.ClientToolCall{
			SessionID: call.SessionID, MessageID: call.MessageID, CallID: call.CallID, Tool: call.ToolID, ClientID: client,
		},
	})
	r.pending.set(call.RequestID, e)
	r.bus.Publish(directory, api.ClientToolRequestEvent{
		Type:       api.ClientToolRequestEventTypeClientToolRequest,
		Properties: api.ClientToolRequested{ClientID: client, Request: e.request},
	})
	r.bus.Send(events.OfClient(directory, client), func() []byte {
		return sse.Event("tool-request", jsonwire.Marshal(e.request))
	})
	return e, nil
}

// newRequestID returns an ID that is not pending (CT 8.2, decision S12).
func (r *Registry) newRequestID(clientID, callID string) string {
	first := clientID + "_" + callID + "_" + strconv.FormatInt(time.Now().UnixMilli(), 10)
	id := first
	for n := 2; ; n++ {
		if _, taken := r.pending.get(id); !taken {
			return id
		}
		id = first + "_" + strconv.Itoa(n)
	}
}

// Submit ends a pending execution with its result, or with the client's error text if failed is not nil. It returns
// false if no execution with that ID is pending (CT 4.3).
func (r *Registry) Submit(directory, requestID string, result Result, failed *string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.pending.get(requestID)
	switch {
	case !ok:
		return false
	case failed != nil:
		r.fail(directory, e, &Failure{Text: *failed})
	default:
		r.complete(directory, e, result)
	}
	return true
}

// Disconnect handles the end of a client's stream, even if other streams of the client are still open (CT 5.1). It
// first fails the client's pending executions, then removes all its tools. After Shutdown it does nothing.
func (r *Registry) Disconnect(directory, clientID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	for _, e := range r.pending.all() {
		if e.client == clientID {
			r.fail(directory, e, &Failure{Text: textDisconnected})
		}
	}
	r.forget(directory, clientID)
}

// Shutdown fails all pending executions and all later ones (decision S19, step 2).
func (r *Registry) Shutdown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, e := range r.pending.all() {
		r.fail(e.directory, e, &Failure{Text: textShuttingDown})
	}
}

func (r *Registry) timeOut(e *execution, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isPending(e) {
		text := fmt.Sprintf("Client tool execution timed out after %dms", after.Milliseconds())
		r.fail(e.directory, e, &Failure{Text: text, TimedOut: true})
	}
}

func (r *Registry) withdraw(e *execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isPending(e) {
		r.pending.delete(e.request.RequestID)
	}
}

// isPending reports whether an execution is still pending. A later one may have the same ID.
func (r *Registry) isPending(e *execution) bool {
	now, ok := r.pending.get(e.request.RequestID)
	return ok && now == e
}

func (r *Registry) complete(directory string, e *execution, result Result) {
	r.pending.delete(e.request.RequestID)
	r.bus.Publish(directory, api.ClientToolCompletedEvent{
		Type: api.ClientToolCompletedEventTypeClientToolCompleted,
		Properties: api.ClientToolCompleted{
			SessionID: e.request.SessionID, MessageID: e.request.MessageID, CallID: e.request.CallID, Tool: e.request.Tool,
			ClientID: e.client, Success: true,
		},
	})
	e.outcome <- outcome{result: result}
}

func (r *Registry) fail(directory string, e *execution, failure *Failure) {
	r.pending.delete(e.request.RequestID)
	r.bus.Publish(directory, api.ClientToolFailedEvent{
		Type: api.ClientToolFailedEventTypeClientToolFailed,
		Properties: api.ClientToolFailed{
			SessionID: e.request.SessionID, MessageID: e.request.MessageID, CallID: e.request.CallID, Tool: e.request.Tool,
			ClientID: e.client, Error: failure.Text,
		},
	})
	e.outcome <- outcome{failure: failure}
}
