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
	RequestID                    string // generated if empty
	SessionID, MessageID, CallID string
	Input                        json.RawMessage // an object
	Timeout                      time.Duration

	client *client // the one that was found to have the tool; nil means any
}

// An execution is waiting for its result.
type execution struct {
	directory string
	client    string
	request   api.ClientToolExecutionRequest
	outcome   chan outcome // has room for the only one

	began, due time.Time // due is when it times out
	timeout    time.Duration

	waits bool // for a stream of its client, which has a lease
}

// maxTimeouts limits how long reports of progress extend an execution: to so many times its timeout (CT 14.2).
const maxTimeouts = 10

// executions are the pending executions, by request ID.
type executions struct {
	ordered[string, *execution]
}

// has reports whether an execution is still pending. A later one may have the same ID.
func (p *executions) has(e *execution) bool {
	now, ok := p.get(e.request.RequestID)
	return ok && now == e
}

// newID returns an ID that is not pending (CT 8.2, decision S12).
func (p *executions) newID(clientID, callID string) string {
	first := clientID + "_" + callID + "_" + strconv.FormatInt(time.Now().UnixMilli(), 10)
	id := first
	for n := 2; ; n++ {
		if _, taken := p.get(id); !taken {
			return id
		}
		id = first + "_" + strconv.Itoa(n)
	}
}

// An outcome is a failure, or a result if failure is nil.
type outcome struct {
	result  api.ClientToolResult
	failure *Failure
}

// Execute runs a tool on its client. It waits for the result, the timeout, the client's disconnect or the end of ctx
// (CT 8.1). Its error is [ErrToolNotFound], [ErrRequestPending], a [*Refusal] of the rate limit, a [*Failure], or the
// cause of the end of ctx. When
// ctx ends, the execution is withdrawn without an event (CT 4.4).
func (r *Registry) Execute(ctx context.Context, directory string, call Call) (api.ClientToolResult, error) {
	e, err := r.start(directory, call)
	if err != nil {
		return api.ClientToolResult{}, err
	}
	timer := time.NewTimer(call.Timeout)
	defer timer.Stop()
	for {
		select {
		case o := <-e.outcome:
			if o.failure != nil {
				return api.ClientToolResult{}, o.failure
			}
			return o.result, nil
		case <-timer.C:
			timer.Reset(r.timeOut(e))
		case <-ctx.Done():
			r.withdraw(e)
			return api.ClientToolResult{}, context.Cause(ctx)
		}
	}
}

// find returns the tool of a call, and its client: the first of several (CT 2.6).
func (r *Registry) find(call Call) (definition, *client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.available(call); err != nil {
		return definition{}, nil, err
	}
	owner := r.owners[call.ToolID][0]
	tool, _ := owner.tools.get(call.ToolID)
	return tool, owner, nil
}

// available returns why a call cannot be executed now, or nil.
func (r *Registry) available(call Call) error {
	owners := r.owners[call.ToolID]
	switch {
	case len(owners) == 0, call.client != nil && owners[0] != call.client:
		return ErrToolNotFound
	case r.stopped:
		return &Failure{Text: textShuttingDown}
	}
	if _, ok := r.pending.get(call.RequestID); ok {
		return ErrRequestPending
	}
	return nil
}

// start finds the tool, announces the execution, and adds it to the pending ones.
func (r *Registry) start(directory string, call Call) (*execution, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.available(call); err != nil {
		return nil, err
	}
	owner := r.owners[call.ToolID][0]
	client := owner.id
	if !r.windows.take(client) {
		return nil, errRateLimited
	}
	if call.RequestID == "" {
		call.RequestID = r.pending.newID(client, call.CallID)
	}
	now := time.Now()
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
		began:   now,
		due:     now.Add(call.Timeout),
		timeout: call.Timeout,
		waits:   owner.lease.runs(),
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
	if e.waits {
		return e, nil
	}
	r.bus.Send(events.OfClient(directory, client), func() []byte { return streamFrame(e.request) })
	r.bus.Send(events.OfSockets(directory, client), func() []byte { return socketFrame("request", "request", e.request) })
	return e, nil
}

// streamFrame returns the frame of a request on a pending stream.
func streamFrame(request api.ClientToolExecutionRequest) []byte {
	return sse.Event("tool-request", jsonwire.Marshal(request))
}

// Submit ends a pending execution with its result, or with the client's error text if failed is not nil. It returns
// false if no execution with that ID is pending (CT 4.3).
func (r *Registry) Submit(directory, requestID string, result api.ClientToolResult, failed *string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.pending.get(requestID)
	switch {
	case !ok:
		return false
	case failed != nil:
		r.end(directory, e, outcome{failure: &Failure{Text: *failed}})
	default:
		r.end(directory, e, outcome{result: result})
	}
	return true
}

// Disconnect handles the end of a client's stream, even if other streams of the client are still open (CT 5.1). It
// first fails the client's pending executions, then removes all its tools, unless it has a lease. After Shutdown it does
// nothing.
func (r *Registry) Disconnect(directory, clientID string) {
	defer r.leases.save(clientID)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	for _, e := range r.pending.all() {
		if e.client == clientID {
			r.end(directory, e, outcome{failure: &Failure{Text: textDisconnected}})
		}
	}
	c, ok := r.clients.get(clientID)
	if ok {
		r.questions.end(c, &Failure{Text: textDisconnected})
	}
	r.leases.disconnected(clientID)
	if ok && c.lease == nil {
		r.forget(directory, clientID)
	}
}

// Shutdown fails all pending executions and all later ones (decision S19, step 2).
func (r *Registry) Shutdown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, e := range r.pending.all() {
		r.end(e.directory, e, outcome{failure: &Failure{Text: textShuttingDown}})
	}
	r.questions.end(nil, &Failure{Text: textShuttingDown})
	r.leases.stop()
}

// timeOut fails an execution that is due. Otherwise it returns when it will be.
func (r *Registry) timeOut(e *execution) (left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left = time.Until(e.due)
	if left <= 0 && r.pending.has(e) {
		text := fmt.Sprintf("Client tool execution timed out after %dms", e.timeout.Milliseconds())
		r.end(e.directory, e, outcome{failure: &Failure{Text: text, TimedOut: true}})
	}
	return max(left, 0)
}

// Progress publishes a report about a pending execution, and gives it its whole timeout again (CT 14.2). It returns
// false if no execution with that ID is pending.
func (r *Registry) Progress(report api.ProgressRequest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.pending.get(report.RequestID)
	if !ok {
		return false
	}
	e.due = time.Now().Add(e.timeout)
	if last := e.began.Add(maxTimeouts * e.timeout); e.due.After(last) {
		e.due = last
	}
	r.bus.Publish(e.directory, api.ClientToolProgressEvent{
		Type: api.ClientToolProgressEventTypeClientToolProgress,
		Properties: api.ClientToolProgress{
			SessionID: e.request.SessionID, MessageID: e.request.MessageID, CallID: e.request.CallID,
			ClientID: e.client, RequestID: e.request.RequestID, Tool: e.request.Tool,
			Progress: report.Progress, Total: report.Total, Message: report.Message,
		},
	})
	return true
}

func (r *Registry) withdraw(e *execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending.has(e) {
		r.pending.delete(e.request.RequestID)
	}
}

// end publishes the outcome of an execution, and passes it to the caller.
func (r *Registry) end(directory string, e *execution, o outcome) {
	r.pending.delete(e.request.RequestID)
	if o.failure == nil {
		r.bus.Publish(directory, api.ClientToolCompletedEvent{
			Type: api.ClientToolCompletedEventTypeClientToolCompleted,
			Properties: api.ClientToolCompleted{
				SessionID: e.request.SessionID, MessageID: e.request.MessageID, CallID: e.request.CallID, Tool: e.request.Tool,
				ClientID: e.client, Success: true,
			},
		})
	} else {
		r.bus.Publish(directory, api.ClientToolFailedEvent{
			Type: api.ClientToolFailedEventTypeClientToolFailed,
			Properties: api.ClientToolFailed{
				SessionID: e.request.SessionID, MessageID: e.request.MessageID, CallID: e.request.CallID, Tool: e.request.Tool,
				ClientID: e.client, Error: o.failure.Text,
			},
		})
	}
	e.outcome <- o
}
