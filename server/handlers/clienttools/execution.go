package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
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
	// Progress gets the reports of the client while the execution is pending. It must not block; it may be nil.
	Progress func(api.ProgressRequest)
	// Over reports whether the caller no longer waits. It must not block; it may be nil.
	Over func() bool
	// Compose calls a tool of the server for the client. Nil means that the call belongs to no reply.
	Compose func(context.Context, toolbox.ServerCall) message.ToolResult

	client *client // the one that was found to have the tool; nil means any
}

// An Execution is waiting for its result.
type Execution struct {
	registry  *Registry
	directory string
	client    string
	request   api.ClientToolExecutionRequest
	outcome   chan outcome // has room for the only one

	began, due time.Time // due is when it times out
	timeout    time.Duration
	progress   func(api.ProgressRequest) // may be nil
	over       func() bool               // may be nil

	running  context.Context // ends with the execution
	finish   context.CancelFunc
	compose  func(context.Context, toolbox.ServerCall) message.ToolResult // may be nil
	composed atomic.Int64                                                 // how many calls its client has made

	waits bool // for a stream of its client, which has a lease
}

// maxTimeouts limits how long reports of progress extend an execution: to so many times its timeout (CT 14.2).
const maxTimeouts = 10

// executions are the pending executions, by request ID.
type executions struct {
	ordered[string, *Execution]
}

// has reports whether an execution is still pending. A later one may have the same ID.
func (p *executions) has(e *Execution) bool {
	now, ok := p.get(e.request.RequestID)
	return ok && now == e
}

// expected returns the execution that waits for something from its client. One whose caller no longer waits is removed
// at once, although its goroutine may not have noticed.
func (p *executions) expected(requestID string) (e *Execution, ok bool) {
	e, ok = p.get(requestID)
	if ok && e.over != nil && e.over() {
		p.remove(e)
		return nil, false
	}
	return e, ok
}

// remove ends an execution that is pending.
func (p *executions) remove(e *Execution) {
	p.delete(e.request.RequestID)
	e.finish()
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
// (CT 8.1). Its error is one of Start, a [*Failure], or the cause of the end of ctx. When ctx ends, the execution is
// withdrawn without an event (CT 4.4).
func (r *Registry) Execute(ctx context.Context, directory string, call Call) (Result, error) {
	e, err := r.Start(directory, call)
	if err != nil {
		return Result{}, err
	}
	return e.Wait(ctx)
}

// Wait waits for the end of an execution; see [Registry.Execute]. It must be called once, at once.
func (e *Execution) Wait(ctx context.Context) (Result, error) {
	timer := time.NewTimer(e.timeout)
	defer timer.Stop()
	for {
		select {
		case o := <-e.outcome:
			if o.failure != nil {
				return Result{}, o.failure
			}
			return o.result, nil
		case <-timer.C:
			timer.Reset(e.registry.timeOut(e))
		case <-ctx.Done():
			e.registry.withdraw(e)
			return Result{}, context.Cause(ctx)
		}
	}
}

// find returns the tool of a call, and the client that would execute it now.
func (r *Registry) find(call Call) (definition, *client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, err := r.available(call)
	if err != nil {
		return definition{}, nil, err
	}
	tool, _ := owner.tools.get(call.ToolID)
	return tool, owner, nil
}

// available returns the client that would execute a call now, or why none would.
func (r *Registry) available(call Call) (*client, error) {
	owner := r.owners.executor(call)
	switch {
	case owner == nil, call.client != nil && owner != call.client:
		return nil, ErrToolNotFound
	case r.stopped:
		return nil, &Failure{Text: textShuttingDown}
	}
	if _, ok := r.pending.get(call.RequestID); ok {
		return nil, ErrRequestPending
	}
	return owner, nil
}

// Start sends a call to its client, and adds it to the pending ones. Its error is [ErrToolNotFound],
// [ErrRequestPending], a [*Refusal] of the rate limit, or a [*Failure].
func (r *Registry) Start(directory string, call Call) (*Execution, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, err := r.available(call)
	if err != nil {
		return nil, err
	}
	client := owner.id
	if !r.windows.take(client) {
		return nil, errRateLimited
	}
	if call.RequestID == "" {
		call.RequestID = r.pending.newID(client, call.CallID)
	}
	now := time.Now()
	e := &Execution{
		registry:  r,
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
		timeout: call.Timeout, progress: call.Progress, over: call.Over, compose: call.Compose,
		waits: owner.lease.runs(),
	}
	e.running, e.finish = context.WithCancel(context.Background())
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
func (r *Registry) Submit(directory, requestID string, result Result, failed *string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.pending.expected(requestID)
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
func (r *Registry) timeOut(e *Execution) (left time.Duration) {
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
	e, ok := r.pending.expected(report.RequestID)
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
	if e.progress != nil {
		e.progress(report)
	}
	return true
}

func (r *Registry) withdraw(e *Execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending.has(e) {
		r.pending.remove(e)
	}
}

// end publishes the outcome of an execution, and passes it to the caller.
func (r *Registry) end(directory string, e *Execution, o outcome) {
	r.pending.remove(e)
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
