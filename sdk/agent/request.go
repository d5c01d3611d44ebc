package agentsdk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"
)

// requests sends control requests to the CLI, and waits for their answers. It is safe for concurrent use.
type requests struct {
	wire  *wire
	newID func() string

	mu      sync.Mutex
	waiting map[string]chan response // by request id
	closed  error                    // why no request can be sent any more
	over    chan struct{}            // closed when closed is set
}

// A response is the answer to a request.
type response struct {
	payload json.RawMessage
	err     error
}

func newRequests(w *wire, newID func() string) *requests {
	if newID == nil {
		newID = requestIDs()
	}
	return &requests{wire: w, newID: newID, waiting: map[string]chan response{}, over: make(chan struct{})}
}

// requestIDs returns a function that makes ids such as req_1_9f3a2c11.
func requestIDs() func() string {
	var mu sync.Mutex
	counter := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		counter++
		random := make([]byte, 4)
		_, _ = rand.Read(random) // it never fails
		return fmt.Sprintf("req_%d_%s", counter, hex.EncodeToString(random))
	}
}

// send sends a request, and returns the payload of its answer, which is {} if the CLI sends none. A limit that is not
// positive means none.
func (r *requests) send(ctx context.Context, subtype string, fields map[string]any, limit time.Duration) (json.RawMessage, error) {
	id := r.newID()
	request := maps.Clone(fields)
	if request == nil {
		request = map[string]any{}
	}
	request["subtype"] = subtype
	line, err := encode(map[string]any{"type": "control_request", "request_id": id, "request": request})
	if err != nil {
		return nil, &ControlProtocolError{RequestID: id, Subtype: subtype, Message: err.Error()}
	}
	answer := make(chan response, 1)
	r.mu.Lock()
	if err := r.closed; err != nil {
		r.mu.Unlock()
		return nil, err
	}
	r.waiting[id] = answer
	r.mu.Unlock()
	defer r.forget(id)

	began, outer := time.Now(), ctx
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if err := r.wire.Write(ctx, line); err != nil {
		if ctx.Err() != nil {
			return nil, waitError(ctx, subtype, began)
		}
		return nil, r.why(ctx, err)
	}
	select {
	case got := <-answer:
		if failed, ok := got.err.(*ControlProtocolError); ok {
			failed.RequestID, failed.Subtype = id, subtype
		}
		return got.payload, got.err
	case <-ctx.Done():
		if outer.Err() != nil { // the program has lost interest, so the CLI need not go on
			r.withdraw(id)
		}
		return nil, waitError(ctx, subtype, began)
	}
}

// why waits until the reader knows why a write has failed, such as by the exit of the CLI.
func (r *requests) why(ctx context.Context, err error) error {
	select {
	case <-r.over:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.closed
	case <-ctx.Done():
		return connectionError("write to the CLI", err)
	}
}

func connectionError(reason string, err error) error {
	if known, ok := err.(*CLIConnectionError); ok {
		return known
	}
	return &CLIConnectionError{Reason: reason, ExitCode: -1, Err: err}
}

func (r *requests) withdraw(id string) {
	line, _ := encode(map[string]any{"type": "control_cancel_request", "request_id": id}) // it has only strings
	go func() { _ = r.wire.Write(context.Background(), line) }()                          // the CLI may not be reading
}

func (r *requests) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, id)
}

// resolve takes the response member of a control_response. It returns false if it cannot belong to a request.
func (r *requests) resolve(body json.RawMessage) bool {
	var b struct {
		ID        *string `json:"request_id"`
		Subtype   string
		Error     json.RawMessage
		ErrorCode string `json:"error_code"`
		Response  json.RawMessage
	}
	if json.Unmarshal(body, &b) != nil || b.ID == nil {
		return false
	}
	r.mu.Lock()
	answer := r.waiting[*b.ID]
	delete(r.waiting, *b.ID)
	r.mu.Unlock()
	if answer == nil {
		return true // late, or an echo of our own response
	}
	switch b.Subtype {
	case "success":
		if missing(b.Response) {
			b.Response = json.RawMessage("{}")
		}
		answer <- response{payload: b.Response}
	case "error":
		text, ok := stringOf(b.Error)
		if !ok {
			text = string(b.Error)
		}
		answer <- response{err: &ControlProtocolError{Message: text, ErrorCode: b.ErrorCode}}
	default:
		answer <- response{err: &ControlProtocolError{Message: fmt.Sprintf("the response has subtype %q, want success or error", b.Subtype)}}
	}
	return true
}

// close fails all requests, now and later. The first error counts.
func (r *requests) close(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed == nil {
		r.closed = err
		close(r.over)
	}
	for id, answer := range r.waiting {
		answer <- response{err: r.closed}
		delete(r.waiting, id)
	}
}
