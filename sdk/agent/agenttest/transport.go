// Package agenttest has a CLI for the tests of programs that use package agentsdk: no process is started.
//
// A [MockTransport] takes the place of the process. The test sends lines of the CLI, and looks at what the SDK has
// written. A [MockClaudeSession] plays a whole session over it, from the handshake to the result: a [SessionScenario] says
// which tools the model calls.
//
//	mock := agenttest.NewMockTransport(agenttest.MockTransportOptions{})
//	session, err := agenttest.NewMockClaudeSession(mock, agenttest.CalculatorScenario())
//	...
//	defer session.Close()
//	session.Play("Add 15 and 27")
//	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{
//		MCPServers:   map[string]agentsdk.McpServerConfig{"calc": calculator},
//		NewTransport: mock.For,
//	})
//
// Both work inside of a testing/synctest bubble.
package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// What a MockTransport refuses.
var (
	ErrNotConnected = errors.New("the mock transport is not connected")
	ErrConnected    = errors.New("the mock transport is connected already")
	ErrClosed       = errors.New("the mock transport is closed")
)

// MockTransportOptions configure a MockTransport.
type MockTransportOptions struct {
	AutoConnect        bool                                 // it is connected from the beginning
	AutoInitialize     bool                                 // it answers every initialize with an empty success
	MessageDelay       time.Duration                        // before each message
	SimulatedResponses []any                                // the first messages
	OnWrite            func(line map[string]any)            // gets every line of the SDK, one after the other
	After              func(time.Duration) <-chan time.Time // the clock of MessageDelay; default time.After
}

// A MockTransport is a Transport without a process. It is safe for concurrent use.
type MockTransport struct {
	o MockTransportOptions

	mu                       sync.Mutex
	connected, ended, closed bool
	queue                    []json.RawMessage
	written                  []map[string]any
	observers                []func(map[string]any)
	calls                    int
	changed                  chan struct{} // closed at each change, and replaced
	writing                  sync.Mutex    // observers get one line after the other
}

// NewMockTransport returns a transport for one session.
func NewMockTransport(o MockTransportOptions) *MockTransport {
	if o.After == nil {
		o.After = time.After
	}
	t := &MockTransport{o: o, connected: o.AutoConnect, changed: make(chan struct{})}
	for _, message := range o.SimulatedResponses {
		if err := t.SimulateMessage(message); err != nil {
			panic(err) // the test has written it
		}
	}
	if o.OnWrite != nil {
		t.observe(o.OnWrite)
	}
	if o.AutoInitialize {
		t.observe(t.answerInitialize)
	}
	return t
}

// For is the NewTransport of AgentOptions.
func (t *MockTransport) For(agentsdk.TransportOptions) agentsdk.Transport { return t }

func (t *MockTransport) observe(f func(map[string]any)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.observers = append(t.observers, f)
}

func (t *MockTransport) answerInitialize(line map[string]any) {
	request, _ := line["request"].(map[string]any)
	if request["subtype"] == "initialize" {
		_ = t.SimulateMessage(successOf(line["request_id"], map[string]any{})) // it fails only after Close
	}
}

func successOf(id any, payload any) map[string]any {
	return map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": id, "response": payload}}
}

// change wakes all waiting goroutines. The caller holds the lock.
func (t *MockTransport) change() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Connect connects, once. With AutoConnect, the first call does nothing.
func (t *MockTransport) Connect(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return ErrClosed
	case t.o.AutoConnect:
		t.o.AutoConnect = false
		return nil
	case t.connected:
		return ErrConnected
	}
	t.connected = true
	t.change()
	return nil
}

// Write records a line.
func (t *MockTransport) Write(ctx context.Context, line []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(line, &object); err != nil || object == nil {
		return fmt.Errorf("the line is not a JSON object: %q", line)
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	if err := t.unusable(); err != nil {
		t.mu.Unlock()
		return err
	}
	t.written = append(t.written, object)
	observers := slices.Clone(t.observers)
	t.change()
	t.mu.Unlock()
	for _, observe := range observers {
		observe(object)
	}
	return nil
}

func (t *MockTransport) unusable() error {
	switch {
	case t.closed:
		return ErrClosed
	case !t.connected:
		return ErrNotConnected
	}
	return nil
}

// ReadMessages yields the messages, each after MessageDelay, until the input has ended or the transport is closed.
func (t *MockTransport) ReadMessages() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		t.mu.Lock()
		if err := t.unusable(); err != nil && !t.closed {
			t.mu.Unlock()
			yield(nil, err)
			return
		}
		for !t.closed {
			changed := t.changed
			if len(t.queue) == 0 {
				if t.ended {
					break
				}
				t.mu.Unlock()
				<-changed
				t.mu.Lock()
				continue
			}
			message := t.queue[0]
			t.queue = t.queue[1:]
			t.mu.Unlock()
			if t.o.MessageDelay > 0 {
				<-t.o.After(t.o.MessageDelay)
			}
			if t.IsClosed() || !yield(message, nil) {
				return
			}
			t.mu.Lock()
		}
		t.mu.Unlock()
	}
}

// EndInput ends ReadMessages after the messages that are queued.
func (t *MockTransport) EndInput() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.change()
	return nil
}

// Close drops what is queued, and ends ReadMessages.
func (t *MockTransport) Close(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed, t.queue = true, nil
		t.change()
	}
	return nil
}

// SimulateMessage sends a message of the CLI. A json.RawMessage or a []byte is sent as it is, even if it is not JSON.
func (t *MockTransport) SimulateMessage(message any) error {
	line, ok := message.(json.RawMessage)
	if raw, isBytes := message.([]byte); isBytes {
		line, ok = raw, true
	}
	if !ok {
		var err error
		if line, err = json.Marshal(message); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosed
	}
	t.queue = append(t.queue, line)
	t.change()
	return nil
}

// SimulateToolCall sends a call of a tool to a server, by default to "sdk-tools". It returns the id of the request.
func (t *MockTransport) SimulateToolCall(name string, args map[string]any, server ...string) (string, error) {
	t.mu.Lock()
	t.calls++
	number := t.calls
	t.mu.Unlock()
	to := "sdk-tools"
	if len(server) > 0 {
		to = server[0]
	}
	id := fmt.Sprintf("call_%d", number)
	return id, t.SimulateMessage(callMessage(id, to, number+1000, name, fmt.Sprintf("toolu_%d", number), args))
}

func callMessage(id, server string, rpcID int, name, toolUseID string, args map[string]any) map[string]any {
	return mcpMessage(id, server, map[string]any{
		"jsonrpc": "2.0", "id": rpcID, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": args, "_meta": map[string]any{"claudecode/toolUseId": toolUseID}},
	})
}

func mcpMessage(id, server string, message map[string]any) map[string]any {
	return map[string]any{
		"type": "control_request", "request_id": id,
		"request": map[string]any{"subtype": "mcp_message", "server_name": server, "message": message},
	}
}

// GetWrittenMessages returns what the SDK has written, in order.
func (t *MockTransport) GetWrittenMessages() []map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	written := slices.Clone(t.written)
	for i := range written {
		written[i] = maps.Clone(written[i])
	}
	return written
}

// ClearWrittenMessages forgets what the SDK has written.
func (t *MockTransport) ClearWrittenMessages() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written = nil
}

// WaitForWritten returns the first written message that matches, now or later.
func (t *MockTransport) WaitForWritten(ctx context.Context, matches func(map[string]any) bool) (map[string]any, error) {
	for {
		t.mu.Lock()
		i := slices.IndexFunc(t.written, matches)
		var found map[string]any
		if i >= 0 {
			found = t.written[i]
		}
		closed, changed := t.closed, t.changed
		t.mu.Unlock()
		switch {
		case found != nil:
			return found, nil
		case closed:
			return nil, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// QueueSize returns the number of messages that were not delivered yet.
func (t *MockTransport) QueueSize() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queue)
}

// IsConnected reports whether the transport is connected, and not closed.
func (t *MockTransport) IsConnected() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.connected && !t.closed
}

// IsClosed reports whether Close was called.
func (t *MockTransport) IsClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}
