package agentsdk

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// interruptLimit is how long Cancel waits for the answer to its interrupt.
const interruptLimit = 3 * time.Second

// A ClaudeCodeAgent starts sessions of one prompt each. It is safe for concurrent use.
type ClaudeCodeAgent struct {
	o AgentOptions

	mu       sync.Mutex
	closed   bool
	sessions map[*AgentSession]struct{}
}

// NewClaudeCodeAgent returns an agent. A mistake in the options is an *OptionError. Nothing is started.
func NewClaudeCodeAgent(o AgentOptions) (*ClaudeCodeAgent, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &ClaudeCodeAgent{o: copyOptions(o), sessions: map[*AgentSession]struct{}{}}, nil
}

// A SessionConfig is what differs between the sessions of an agent.
type SessionConfig struct {
	Prompt      string
	ProjectPath string  // the working directory; default: Cwd of the options
	Events      *Events // default: those of the options
}

// StartSession starts the CLI, does the handshake and sends the prompt. ctx is the lifetime of the session: at its end the
// session is cancelled and the CLI is shut down.
func (a *ClaudeCodeAgent) StartSession(ctx context.Context, c SessionConfig) (*AgentSession, error) {
	if err := requirePrompt(c.Prompt); err != nil {
		return nil, err
	}
	events := a.o.Events
	if c.Events != nil {
		events = *c.Events
	}
	inner, err := newSession(&a.o, cmp.Or(c.ProjectPath, a.o.Cwd), events, &serial{}, newMailbox())
	if err != nil {
		return nil, err
	}
	s := &AgentSession{session: inner}
	inner.onResult = s.resultCame
	if !a.add(s) {
		return nil, &InvalidStateError{what: "start a session of an agent that is closed"}
	}
	stop := context.AfterFunc(ctx, func() {
		inner.finish(StateCancelled, closedError(ctx))
		inner.stop(context.Background())
	})
	inner.onEnd = func() {
		stop()
		a.forget(s)
	}
	if err = inner.connect(ctx); err == nil {
		_ = inner.state.Transition(StateRunning) // it fails only if the process has ended since, or begun a turn by itself
		if inner.first(ctx, c.Prompt) != nil {
			err = closedError(ctx)
			inner.finish(StateCancelled, err)
			inner.stop(ctx)
		}
	}
	if err != nil {
		stop()
		a.forget(s)
		return nil, err
	}
	return s, nil
}

func (a *ClaudeCodeAgent) add(s *AgentSession) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.sessions[s] = struct{}{}
	return true
}

func (a *ClaudeCodeAgent) forget(s *AgentSession) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, s)
}

// Close cancels all sessions at the same time, and returns after their processes have ended. No session can be started any
// more.
func (a *ClaudeCodeAgent) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	var closing sync.WaitGroup
	for s := range a.sessions {
		closing.Go(func() {
			_ = s.Cancel(ctx) // it returns no error
			s.session.stop(ctx)
		})
	}
	a.mu.Unlock()
	closing.Wait()
	return nil
}

// An AgentSession runs one prompt. It is safe for concurrent use.
type AgentSession struct {
	session    *session
	consumed   atomic.Bool
	cancelling atomic.Bool
}

// Messages yields the messages of the CLI until it has exited. It can be called once. Unread messages are
// kept. An error is the last thing that is yielded. Breaking out of the loop closes the session.
func (s *AgentSession) Messages() iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if !s.consumed.CompareAndSwap(false, true) {
			yield(nil, &InvalidStateError{Current: s.GetState().State, what: "read the messages a second time"})
			return
		}
		for {
			d, _, _ := s.session.mail.take(context.Background(), func() bool { return false }) // an end always comes
			if d.message == nil {
				if d.err != nil {
					yield(nil, d.err)
				}
				return
			}
			if !yield(d.message, nil) {
				_ = s.Abort(context.Background()) // it returns no error
				return
			}
		}
	}
}

// WaitForCompletion waits until the session has ended. The messages need not be read. Its error is that of ctx.
func (s *AgentSession) WaitForCompletion(ctx context.Context) (SessionResult, error) {
	if _, err := s.session.state.WaitForState(ctx, StateCompleted, StateFailed, StateCancelled); err != nil {
		return SessionResult{}, err
	}
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.session.outcome(), nil
}

// resultCame ends the session, on the reader: the CLI gets no more input, and exits. While the session is paused, its state
// stays.
func (s *AgentSession) resultCame(r *ResultMessage) {
	inner := s.session
	inner.mu.Lock()
	paused := inner.state.GetState().State == StatePaused
	if paused {
		inner.deferred = r
	} else {
		s.apply(r)
	}
	inner.mu.Unlock()
	if paused {
		inner.handler.inbox.drop()
	}
	go s.awaitExit()
}

// apply changes to the state that a result means. The caller holds the lock of the session.
func (s *AgentSession) apply(r *ResultMessage) {
	s.session.state.drop()
	_ = s.session.state.Transition(StateRunning) // a CLI can have a result before it has the prompt
	switch {
	case r.Success():
		s.session.finishLocked(StateCompleted, nil)
	case s.cancelling.Load():
		s.session.finishLocked(StateCancelled, nil)
	default:
		s.session.finishLocked(StateFailed, nil)
	}
}

// awaitExit ends the input. A CLI that does not exit although its session has ended is shut down.
func (s *AgentSession) awaitExit() {
	s.session.handler.requests.close(&CLIConnectionError{Reason: "the session has its result", ExitCode: -1})
	_ = s.session.transport.EndInput() // a pipe
	limit := cmp.Or(s.session.o.RequestTimeout, defaultRequestTimeout)
	if limit < 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.session.handler.done:
	case <-timer.C:
		s.session.stop(context.Background())
	}
}

// Pause holds new tool calls and permission requests, until Resume. It is an error unless the session is running.
func (s *AgentSession) Pause() error {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.session.handler.inbox.pause(func() error { return s.session.state.Transition(StatePaused) })
}

// Resume continues a session that is paused. What was held goes on in the order of its arrival.
func (s *AgentSession) Resume() error {
	inner := s.session
	inner.mu.Lock()
	defer inner.mu.Unlock()
	if state := inner.state.GetState().State; state != StatePaused {
		return &InvalidStateError{Current: state, Expected: []SessionState{StatePaused}, what: "resume"}
	}
	err := inner.handler.inbox.resume(func() error { return inner.state.Transition(StateRunning) })
	if err == nil && inner.deferred != nil {
		s.apply(inner.deferred)
	}
	return err
}

// Interrupt ends the turn. Its result ends the session as failed, and is Interrupted.
func (s *AgentSession) Interrupt(ctx context.Context) (InterruptReceipt, error) {
	return s.session.interrupt(ctx)
}

// Cancel interrupts the turn and shuts the CLI down. It does nothing after the end of the session.
func (s *AgentSession) Cancel(ctx context.Context) error {
	if s.GetState().State.IsTerminal() {
		return nil
	}
	s.cancelling.Store(true)
	limited, cancel := context.WithTimeout(ctx, interruptLimit)
	_, _ = s.session.interrupt(limited) // what follows does not need it
	cancel()
	return s.Abort(ctx)
}

// Abort is Cancel without an interrupt.
func (s *AgentSession) Abort(ctx context.Context) error {
	s.session.finish(StateCancelled, nil)
	s.session.stop(ctx)
	return nil
}

// SessionID returns the CLI's id of the session; "" before the first message.
func (s *AgentSession) SessionID() string { return s.GetState().SessionID }

// GetState returns what the session is doing.
func (s *AgentSession) GetState() SessionStateInfo { return s.session.state.GetState() }

// WaitForState is [SessionStateManager.WaitForState] of this session.
func (s *AgentSession) WaitForState(ctx context.Context, states ...SessionState) (SessionStateInfo, error) {
	return s.session.state.WaitForState(ctx, states...)
}

// PendingOperations returns the tool calls and permission requests that are not answered yet, oldest first.
func (s *AgentSession) PendingOperations() []PendingOperation {
	return s.session.state.PendingOperations()
}

// ToolCallHistory returns the tool calls so far.
func (s *AgentSession) ToolCallHistory() []ToolCallRecord { return s.session.calls.all() }
