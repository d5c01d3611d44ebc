package agentsdk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A SessionResult is how a session has ended.
type SessionResult struct {
	Success bool
	Result  *ResultMessage // of the last turn; nil if there was none
	Err     error          // what has ended the session, if that was not a result
	Stats   SessionStats
}

// An InterruptReceipt is the CLI's answer to an interrupt.
type InterruptReceipt struct {
	StillQueued []string `json:"still_queued"` // the UUIDs of prompts that still wait
	Cancelled   []string `json:"cancelled"`
}

// A ToolCallRecord is a tool call of a session.
type ToolCallRecord struct {
	ToolUseID  string
	ToolName   string
	ServerName string
	Arguments  json.RawMessage
	Timestamp  time.Time
}

// A session is one process of a CLI, from its start to its end. [AgentSession] and [ClaudeCodeClient] are made of it.
type session struct {
	transport Transport
	handler   *ControlProtocolHandler
	state     *SessionStateManager
	events    Events
	mail      *mailbox
	o         *AgentOptions
	init      InitializeResult

	// What the owner does, on the reader.
	onMessage func(Message)        // before the message is delivered
	onResult  func(*ResultMessage) // after it was delivered
	onEnd     func()

	mu        sync.Mutex
	served    bool           // it has done all that its process is for, which may end
	result    *ResultMessage // of the last turn
	err       error          // what has ended the session
	deferred  *ResultMessage // came while the session was paused
	unwritten error          // the first failure of a write
	closing   bool
	connected bool          // the process was started
	ready     bool          // the handshake has succeeded
	end       *delivery     // how the process has ended; nil before
	stopped   chan struct{} // closed when the shutdown is done

	calls history
}

// A history has tool calls, in pieces: a long session never copies it.
type history struct {
	mu     sync.Mutex
	pieces [][]ToolCallRecord
}

func (h *history) add(r ToolCallRecord) {
	const length = 64 // of a piece
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.pieces); n == 0 || len(h.pieces[n-1]) == length {
		h.pieces = append(h.pieces, make([]ToolCallRecord, 0, length))
	}
	last := &h.pieces[len(h.pieces)-1]
	*last = append(*last, r)
}

// all returns the calls so far.
func (h *history) all() []ToolCallRecord {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(h.pieces...)
}

// newSession prepares a session in a folder. The options are valid. Events are called in their order.
func newSession(o *AgentOptions, cwd string, events Events, order *serial, mail *mailbox, rules ...StateOption) (*session, error) {
	t, err := o.transportOptions(cwd)
	if err != nil {
		return nil, err
	}
	s := &session{o: o, events: events, mail: mail, state: NewSessionStateManager("", rules...), stopped: make(chan struct{})}
	s.state.events = order
	if events.OnStateChange != nil {
		s.state.OnStateChange(events.OnStateChange)
	}
	if o.NewTransport != nil {
		s.transport = o.NewTransport(t)
	} else {
		s.transport = NewSubprocessTransport(t)
	}
	s.handler = newHandler(s.transport, o.protocol(), s)
	s.handler.mcp.replace(o.inProcess())
	return s, nil
}

// connect starts the CLI and does the handshake. After an error the process has ended.
func (s *session) connect(ctx context.Context) error {
	_ = s.state.Transition(StateStarting) // it is idle
	if err := s.transport.Connect(ctx); err != nil {
		s.finish(StateFailed, err)
		s.stop(ctx)
		return err
	}
	s.mu.Lock()
	s.connected = true
	s.mu.Unlock()
	init, err := s.handler.Initialize(ctx)
	if err == nil && s.o.byInitialize() {
		var applied struct {
			Applied bool `json:"mcp_servers_applied"`
		}
		if _ = json.Unmarshal(init.Raw, &applied); !applied.Applied {
			err = &ControlProtocolError{Message: `the CLI has not taken the MCP servers of initialize: it is too old for MCPServersDelivery "initialize"`}
		}
	}
	if err == nil {
		s.begun(init)
		return nil
	}
	if ctx.Err() == context.Canceled || ctx.Err() != nil && !s.state.multi {
		s.finish(StateCancelled, closedError(ctx))
	} else {
		s.finish(StateFailed, err)
	}
	s.stop(ctx)
	return err
}

// begun notes that the handshake has succeeded. If the process has ended since, the consumer gets that end: the reader did
// not know yet that there would be one.
func (s *session) begun(init InitializeResult) {
	s.mu.Lock()
	s.init, s.ready = init, true
	end := s.end
	s.mu.Unlock()
	if end != nil {
		s.mail.put(*end)
	}
}

// first sends the prompt with which a process begins. Its error is that of ctx: if the CLI has ended since the handshake,
// the consumer gets that, whether the prompt was still written or not.
func (s *session) first(ctx context.Context, prompt string) error {
	if err := s.write(ctx, prompt); ctx.Err() != nil {
		return err
	}
	return nil
}

// lost reports whether the process has ended by itself, after it had begun.
func (s *session) lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready && !s.served && s.state.GetState().State.IsTerminal()
}

// write sends a prompt.
func (s *session) write(ctx context.Context, prompt string) error {
	line, err := promptLine(prompt)
	if err != nil {
		return err
	}
	if err := s.handler.wire.Write(ctx, line); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.handler.requests.why(ctx, err)
	}
	return nil
}

// finish changes to a terminal state, once, and reports it.
func (s *session) finish(to SessionState, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishLocked(to, err)
}

func (s *session) finishLocked(to SessionState, err error) {
	before := s.err
	s.err = err
	if s.state.Transition(to) != nil {
		s.err = before
		return
	}
	if f := s.events.OnError; f != nil && err != nil && to == StateFailed {
		s.state.events.post(func() { f(err) })
	}
	if f := s.events.OnComplete; f != nil {
		result := s.outcome()
		s.state.events.post(func() { f(result) })
	}
}

// outcome returns how the session has ended. The caller holds the lock.
func (s *session) outcome() SessionResult {
	info := s.state.GetState()
	return SessionResult{Success: info.State == StateCompleted, Result: s.result, Err: s.err, Stats: info.Stats}
}

// stop ends the process and waits until that is done. ctx can only make it faster. It must not be called by the reader.
func (s *session) stop(ctx context.Context) {
	s.mu.Lock()
	first, connected := !s.closing, s.connected
	s.closing = true
	s.mu.Unlock()
	if !first {
		<-s.stopped
		return
	}
	s.handler.close(&CLIConnectionError{Reason: "the session is closed", ExitCode: -1})
	_ = s.transport.Close(ctx) // nothing is left to be done about it
	if connected {
		<-s.handler.done
	}
	close(s.stopped)
}

// isOver reports whether nothing more will come.
func (s *session) isOver() bool {
	select {
	case <-s.handler.done:
		return true
	case <-s.stopped:
		return true
	default:
		return false
	}
}

// message delivers a message, on the reader.
func (s *session) message(m Message) {
	if _, partial := m.(*StreamEvent); !partial {
		id := ""
		if system, ok := m.(*SystemMessage); ok && system.Subtype == "init" {
			id = system.id
		}
		s.state.countMessage(id)
	}
	if f := s.events.OnMessage; f != nil {
		s.state.events.post(func() { f(m) })
	}
	if s.onMessage != nil {
		s.onMessage(m)
	}
	r, ok := m.(*ResultMessage)
	if ok {
		s.mu.Lock()
		s.result = r
		s.mu.Unlock()
		s.onResult(r)
	}
	s.mail.put(delivery{message: m})
}

func (s *session) warning(text string) {
	if f := s.events.OnWarning; f != nil {
		s.state.events.post(func() { f(text) })
	}
}

func (s *session) toolStarted(p PendingToolCall) {
	_ = s.state.StartToolCall(p) // outside of a turn, the call is answered but changes no state
	s.calls.add(ToolCallRecord{p.ToolUseID, p.ToolName, p.ServerName, p.Arguments, p.StartedAt})
	if f := s.events.OnToolCall; f != nil {
		s.state.events.post(func() { f(ToolCallInfo{p.ToolUseID, p.ToolName, p.ServerName, p.Arguments}) })
	}
}

func (s *session) toolEnded(info ToolResultInfo) {
	if f := s.events.OnToolResult; f != nil {
		report := info // only now it needs memory of its own
		s.state.events.post(func() { f(report) })
	}
	s.state.CompleteToolCall(info.ToolUseID)
}

func (s *session) permissionStarted(p PendingPermission) {
	_ = s.state.StartPermissionRequest(p) // outside of a turn, the question is answered but changes no state
}

func (s *session) permissionEnded(id string) { s.state.CompletePermissionRequest(id) }

// broken ends a session whose CLI does not read any more.
func (s *session) broken(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unwritten == nil && !s.closing && !s.state.GetState().State.IsTerminal() {
		s.unwritten = err
		go s.transport.Close(context.Background()) // the reader sees the end, and says why
	}
	return true
}

// ended is called by the reader when the transport has ended. It returns why requests fail from now on.
func (s *session) ended(err error) error {
	why := s.reason(err)
	s.mu.Lock()
	state, closing := s.state.GetState().State, s.closing
	switch {
	case state == StateCancelled:
		why = s.err // such as the end of the context
	case closing, s.served:
		why = nil
	case why != nil && state == StateCompleted:
		if f := s.events.OnError; f != nil {
			s.state.events.post(func() { f(why) })
		}
	case why != nil:
		s.finishLocked(StateFailed, why)
	}
	s.end = &delivery{err: why}
	ready := s.ready
	s.mu.Unlock()
	if ready { // else connect says it
		s.mail.put(delivery{err: why})
	}
	if s.onEnd != nil {
		s.onEnd()
	}
	if !closing { // after a protocol failure it still runs
		go s.stop(context.Background())
	}
	return connectionError("the CLI has ended", cmp.Or(why, err))
}

// reason returns why the end of the process is a failure; nil if it is not.
func (s *session) reason(err error) error {
	s.mu.Lock()
	result, unwritten := s.result, s.unwritten
	s.mu.Unlock()
	exit, exited := err.(*CLIConnectionError)
	turns := s.state.multi // neither between turns nor within one may the CLI end by itself
	switch {
	case unwritten != nil && (err == nil || exited && exit.stopped):
		return connectionError("write to the CLI", unwritten)
	case err != nil && (turns || !exited || exit.Signal != "" || result == nil || result.Success()):
		return err
	case err == nil && (turns || result == nil):
		e := &CLIConnectionError{Reason: "the CLI ended without a result", ExitCode: -1}
		if t, ok := s.transport.(interface{ Stderr() string }); ok {
			e.ExitCode, e.Stderr = 0, t.Stderr()
		}
		return e
	}
	return nil
}

// interrupt ends the running turn.
func (s *session) interrupt(ctx context.Context) (InterruptReceipt, error) {
	var receipt InterruptReceipt
	payload, err := s.handler.SendRequest(ctx, "interrupt", nil)
	if err == nil {
		_ = json.Unmarshal(payload, &receipt) // all members are optional
	}
	return receipt, err
}

func requirePrompt(prompt string) error {
	if prompt == "" {
		return &OptionError{Option: "prompt", Message: "it is empty: say what to do"}
	}
	return nil
}

// copyOptions returns options that the program does not change any more.
func copyOptions(o AgentOptions) AgentOptions {
	o.MCPServers, o.Hooks, o.Env = maps.Clone(o.MCPServers), maps.Clone(o.Hooks), maps.Clone(o.Env)
	o.ExtraArgs, o.InitializeExtra = maps.Clone(o.ExtraArgs), maps.Clone(o.InitializeExtra)
	return o
}

// closedError is the error of a context, with what it has ended.
func closedError(ctx context.Context) error {
	return fmt.Errorf("the session's context has ended: %w", ctx.Err())
}
