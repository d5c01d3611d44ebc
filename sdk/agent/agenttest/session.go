package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A ToolCallRecord is a call that the scenario has made.
type ToolCallRecord = agentsdk.ToolCallRecord

// A ToolResultRecord is what came of it.
type ToolResultRecord struct {
	ToolUseID string
	ToolName  string
	Result    agentsdk.ToolResult
	IsError   bool
	Timestamp time.Time
}

// A MockClaudeSession is the CLI of one scenario. It answers initialize, does the MCP handshake with each server, waits for
// the prompt, and then takes the steps: all at once after [MockClaudeSession.Play]; or, after [MockClaudeSession.Start],
// those that ExpectToolCall and ExpectCompletion allow.
type MockClaudeSession struct {
	transport *MockTransport
	scenario  SessionScenario

	mu        sync.Mutex
	cursor    int // the next step that the test expects
	allowed   int // the steps before this one may be taken
	pending   *ToolUse
	overrides map[int]agentsdk.ToolResult // by the step that expects a result
	calls     []ToolCallRecord
	results   []ToolResultRecord
	err       error
	stop      context.CancelFunc
	done      chan struct{}
	changed   chan struct{} // closed at each change, and replaced
}

// NewMockClaudeSession returns a session over a transport. The error says which step is wrong.
func NewMockClaudeSession(t *MockTransport, s SessionScenario) (*MockClaudeSession, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &MockClaudeSession{transport: t, scenario: s}, nil
}

// Start begins the session, with no steps allowed. Any other prompt of the SDK is a failure, unless prompt is empty.
func (s *MockClaudeSession) Start(prompt string) { s.begin(prompt, 0) }

// Play begins the session, with all steps allowed.
func (s *MockClaudeSession) Play(prompt string) { s.begin(prompt, len(s.scenario.Steps)) }

func (s *MockClaudeSession) begin(prompt string, allowed int) {
	s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursor, s.allowed, s.pending, s.err = 0, allowed, nil, nil
	s.overrides, s.calls, s.results = map[int]agentsdk.ToolResult{}, nil, nil
	s.stop, s.done, s.changed = cancel, make(chan struct{}), make(chan struct{})
	s.transport.ClearWrittenMessages()
	p := &player{session: s, transport: s.transport, done: s.done, prompt: prompt}
	go p.run(ctx)
}

// Close ends the session, and waits until it has ended.
func (s *MockClaudeSession) Close() {
	s.mu.Lock()
	stop, done := s.stop, s.done
	s.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// ExpectToolCall demands that the next step is a call of this tool, with these arguments among its own, and lets it happen.
// It returns the session. A failure is reported by ExpectCompletion.
func (s *MockClaudeSession) ExpectToolCall(name string, args map[string]any) *MockClaudeSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.cursor < len(s.scenario.Steps) {
		switch s.scenario.Steps[s.cursor].(type) {
		case Assistant, ExpectResult:
			s.cursor++
			continue
		}
		break
	}
	call, ok := ToolUse{}, false
	if s.cursor < len(s.scenario.Steps) {
		call, ok = s.scenario.Steps[s.cursor].(ToolUse)
	}
	if !ok || call.Name != name {
		s.fail(s.scenario.problem(s.cursor, "want a call of %q, got %s", name, describe(s.scenario.Steps, s.cursor)))
		return s
	}
	for key, want := range args {
		if got, ok := call.Args[key]; !ok || !sameJSON(got, want) {
			s.fail(s.scenario.problem(s.cursor, "argument %q is %v, want %v", key, got, want))
			return s
		}
	}
	s.cursor++
	s.allowed = max(s.allowed, s.cursor)
	s.pending = &call
	s.change()
	return s
}

func describe(steps []ScenarioStep, i int) string {
	if i >= len(steps) {
		return "the end"
	}
	return fmt.Sprintf("%T %+v", steps[i], steps[i])
}

func sameJSON(a, b any) bool {
	normal := func(v any) (out any) {
		text, _ := json.Marshal(v)
		_ = json.Unmarshal(text, &out) // what is no JSON is nil
		return out
	}
	return reflect.DeepEqual(normal(a), normal(b))
}

// RespondWithToolResult shows the model another result than that of the SDK.
func (s *MockClaudeSession) RespondWithToolResult(r agentsdk.ToolResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		return s.scenario.problem(s.cursor, "no tool call is pending")
	}
	s.overrides[s.cursor] = r
	s.pending = nil
	s.change()
	return nil
}

// ExpectCompletion demands that only the result is left, lets it happen, and waits for it.
func (s *MockClaudeSession) ExpectCompletion(ctx context.Context) (ResultStats, error) {
	s.mu.Lock()
	steps := s.scenario.Steps
	played := s.allowed == len(steps)
	for !played && s.cursor < len(steps) {
		if _, isCall := steps[s.cursor].(ToolUse); isCall {
			s.fail(s.scenario.problem(s.cursor, "want the result, but %s is left", describe(steps, s.cursor)))
			break
		}
		s.cursor++
	}
	if s.err == nil {
		s.allowed = len(steps)
		s.change()
	} else if !played {
		s.stop()
	}
	done := s.done
	s.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return ResultStats{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return steps[len(steps)-1].(Result).Stats, s.err
}

// ToolCallHistory returns the calls so far.
func (s *MockClaudeSession) ToolCallHistory() []ToolCallRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ToolResultHistory returns their results.
func (s *MockClaudeSession) ToolResultHistory() []ToolResultRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.results)
}

// fail keeps the first failure. The caller holds the lock.
func (s *MockClaudeSession) fail(err error) { s.err = errors.Join(s.err, err) }

func (s *MockClaudeSession) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until a condition holds, which is checked with the lock.
func (s *MockClaudeSession) await(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A player takes the steps of a session.
type player struct {
	session   *MockClaudeSession
	transport *MockTransport
	done      chan struct{}
	prompt    string
	servers   []string
	counter   int
	uses      string // the id of the last tool use
	request   string // the id of its request
	name      string
}

const sessionID = "5e551015-0000-4000-8000-000000000001"

func (p *player) run(ctx context.Context) {
	defer close(p.done)
	err := p.handshake(ctx)
	for i := 0; err == nil && i < len(p.session.scenario.Steps); i++ {
		if err = p.session.await(ctx, func() bool { return p.session.allowed > i }); err == nil {
			err = p.step(ctx, i)
		}
		if err != nil {
			err = p.session.scenario.problem(i, "%v", err)
		}
	}
	p.session.mu.Lock()
	defer p.session.mu.Unlock()
	if err != nil && p.session.err == nil {
		p.session.err = err
	}
}

// handshake does everything up to system/init.
func (p *player) handshake(ctx context.Context) error {
	line, err := p.transport.WaitForWritten(ctx, func(m map[string]any) bool {
		request, _ := m["request"].(map[string]any)
		return request["subtype"] == "initialize"
	})
	if err != nil {
		return err
	}
	names, _ := line["request"].(map[string]any)["sdkMcpServers"].([]any)
	for _, name := range names {
		p.servers = append(p.servers, fmt.Sprint(name))
	}
	for _, server := range p.servers {
		params := map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "claude-code", "version": "0.0.0"}}
		if _, err := p.ask(ctx, server, map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}); err != nil {
			return err
		}
	}
	if !p.transport.o.AutoInitialize {
		p.send(successOf(line["request_id"], map[string]any{}))
	}
	if err := p.awaitPrompt(ctx); err != nil {
		return err
	}
	for _, server := range p.servers {
		if _, err := p.ask(ctx, server, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
			return err
		}
		if _, err := p.ask(ctx, server, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}); err != nil {
			return err
		}
	}
	p.send(map[string]any{"type": "system", "subtype": "init", "session_id": sessionID, "cwd": "/", "model": "mock", "permissionMode": "default", "tools": []any{}, "mcp_servers": []any{}})
	return nil
}

func (p *player) awaitPrompt(ctx context.Context) error {
	line, err := p.transport.WaitForWritten(ctx, func(m map[string]any) bool { return m["type"] == "user" })
	if err != nil || p.prompt == "" {
		return err
	}
	message, _ := line["message"].(map[string]any)
	blocks, _ := message["content"].([]any)
	if len(blocks) != 1 || blocks[0].(map[string]any)["text"] != p.prompt {
		return fmt.Errorf("the prompt is %v, want %q", message["content"], p.prompt)
	}
	return nil
}

func (p *player) send(message map[string]any) {
	_ = p.transport.SimulateMessage(message) // it fails only after Close, which the next wait notices
}

// ask sends an MCP message, and waits for the response.
func (p *player) ask(ctx context.Context, server string, message map[string]any) (map[string]any, error) {
	p.counter++
	id := fmt.Sprintf("mcp_%d", p.counter)
	p.send(mcpMessage(id, server, message))
	return p.response(ctx, id)
}

// response waits for a response, and returns its mcp_response.
func (p *player) response(ctx context.Context, id string) (map[string]any, error) {
	line, err := p.transport.WaitForWritten(ctx, func(m map[string]any) bool {
		body, _ := m["response"].(map[string]any)
		return m["type"] == "control_response" && body["request_id"] == id
	})
	if err != nil {
		return nil, err
	}
	body := line["response"].(map[string]any)
	payload, _ := body["response"].(map[string]any)
	reply, ok := payload["mcp_response"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the response to %s has no mcp_response: %v", id, body)
	}
	return reply, nil
}

func (p *player) step(ctx context.Context, i int) error {
	switch step := p.session.scenario.Steps[i].(type) {
	case Assistant:
		p.assistant(map[string]any{"type": "text", "text": step.Content})
	case ToolUse:
		return p.call(i, step)
	case ExpectResult:
		return p.result(ctx, i)
	case Result:
		p.send(map[string]any{
			"type": "result", "subtype": "success", "is_error": false, "result": "done", "num_turns": 1, "session_id": sessionID,
			"total_cost_usd": step.Stats.Cost, "usage": map[string]any{"output_tokens": step.Stats.Tokens},
		})
		return p.transport.EndInput()
	}
	return nil
}

func (p *player) assistant(block map[string]any) {
	p.send(map[string]any{
		"type": "assistant", "session_id": sessionID, "parent_tool_use_id": nil,
		"message": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": []any{block}},
	})
}

func (p *player) call(i int, step ToolUse) error {
	server := step.Server
	if server == "" {
		if len(p.servers) != 1 {
			return fmt.Errorf("the SDK announces %d servers: name one", len(p.servers))
		}
		server = p.servers[0]
	}
	p.uses, p.name = step.ToolUseID, step.Name
	if p.uses == "" {
		p.uses = fmt.Sprintf("tool_use_%d", i)
	}
	p.counter++
	p.request = fmt.Sprintf("mcp_%d", p.counter)
	args, _ := json.Marshal(step.Args)
	p.session.mu.Lock()
	p.session.calls = append(p.session.calls, ToolCallRecord{ToolUseID: p.uses, ToolName: step.Name, ServerName: server, Arguments: args, Timestamp: time.Now().UTC()})
	p.session.mu.Unlock()
	p.assistant(map[string]any{"type": "tool_use", "id": p.uses, "name": "mcp__" + server + "__" + step.Name, "input": maps.Clone(step.Args)})
	p.send(callMessage(p.request, server, p.counter+1, step.Name, p.uses, step.Args))
	return nil
}

// result shows the result of the call to the model: that of the test, or else that of the SDK.
func (p *player) result(ctx context.Context, i int) error {
	s := p.session
	s.mu.Lock()
	result, overridden := s.overrides[i]
	s.mu.Unlock()
	if !overridden {
		reply, err := p.response(ctx, p.request)
		if err != nil {
			return err
		}
		text, _ := json.Marshal(reply["result"])
		if err := json.Unmarshal(text, &result); err != nil || reply["result"] == nil {
			return fmt.Errorf("the response to the call of %q is not a result: %v", p.name, reply)
		}
	}
	s.mu.Lock()
	s.results = append(s.results, ToolResultRecord{ToolUseID: p.uses, ToolName: p.name, Result: result, IsError: result.IsError, Timestamp: time.Now().UTC()})
	s.pending = nil
	s.mu.Unlock()
	content, _ := json.Marshal(result.Content)
	block := map[string]any{"type": "tool_result", "tool_use_id": p.uses, "content": json.RawMessage(content)}
	if result.IsError {
		block["is_error"] = true
	}
	p.send(map[string]any{
		"type": "user", "session_id": sessionID, "parent_tool_use_id": nil,
		"message": map[string]any{"role": "user", "content": []any{block}},
	})
	return nil
}
