package agentsdk

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// A conversation is the turns of a client: the processes that run them one after the other, and the prompts that wait.
type conversation struct {
	o      ClientOptions
	mail   *mailbox
	events serial // of all processes

	mu        sync.Mutex
	current   *session // nil before the first Connect
	connected bool     // from Connect to Disconnect, also while there is no process
	busy      bool     // a turn runs, or its process is being started or ended
	held      []string // prompts of Query that wait for the end of the turn
	lastID    string   // of the last system/init
}

func (c *conversation) keepAlive() bool { return c.o.KeepAlive == nil || *c.o.KeepAlive }

func (c *conversation) mayResume() bool { return c.o.ReconnectOnError || !c.keepAlive() }

// connect starts the first process, and sends the first prompt. After an error there is no process.
func (c *conversation) connect(ctx context.Context, prompts []string) error {
	c.mu.Lock()
	if c.connected {
		state := c.current.state.GetState().State
		c.mu.Unlock()
		return &InvalidStateError{Current: state, what: "connect a second time: call Disconnect first"}
	}
	c.connected, c.busy, c.held, c.lastID = true, true, slices.Clone(prompts), ""
	s, err := c.open(c.o.AgentOptions)
	c.mu.Unlock()
	if err == nil {
		c.mail.clear()
		if err = c.begin(ctx, s); err != nil {
			s.finish(StateCancelled, err) // unless the handshake has failed
			s.stop(ctx)
		}
	}
	if err != nil {
		c.mu.Lock()
		c.connected, c.busy, c.held = false, false, nil
		c.mu.Unlock()
	}
	return err
}

// open prepares a process, and makes it the current one. The caller holds the lock.
func (c *conversation) open(o AgentOptions) (*session, error) {
	s, err := newSession(&o, o.Cwd, o.Events, &c.events, c.mail, MultiTurn())
	if err != nil {
		return nil, err
	}
	s.onMessage = func(m Message) { c.sawMessage(s, m) }
	s.onResult = func(*ResultMessage) { c.sawResult(s) }
	s.onEnd = func() { c.sawEnd(s) }
	c.current = s
	return s, nil
}

// begin starts the process, and sends the first of the prompts that wait.
func (c *conversation) begin(ctx context.Context, s *session) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	prompt, ok := c.nextPrompt(s)
	c.mu.Unlock()
	if !ok {
		return nil
	}
	return s.first(ctx, prompt)
}

// nextPrompt begins the next turn: it returns its prompt. If none waits, the session is idle. The caller holds the lock,
// and must write the prompt.
func (c *conversation) nextPrompt(s *session) (string, bool) {
	if len(c.held) == 0 {
		c.busy = false
		if s.state.GetState().State == StateStarting {
			_ = s.state.Transition(StateIdle) // it fails only if the process has ended
		}
		return "", false
	}
	prompt := c.held[0]
	c.held = c.held[1:]
	_ = s.state.Transition(StateRunning) // the same
	return prompt, true
}

// resume starts a process that continues the session.
func (c *conversation) resume(ctx context.Context) error {
	c.mu.Lock()
	o := c.o.AgentOptions
	if c.lastID != "" {
		o.Resume, o.Continue, o.SessionID, o.ForkSession, o.ResumeSessionAt = c.lastID, false, "", false, ""
	}
	s, err := c.open(o)
	c.mu.Unlock()
	if err == nil {
		err = c.begin(ctx, s)
	}
	switch {
	case err == nil:
	case s != nil && s.state.GetState().State == StateRunning:
		c.nextTurn(s) // the prompt was not sent
	default:
		c.mu.Lock()
		c.busy, c.held = false, nil
		c.mu.Unlock()
	}
	return err
}

// query sends a prompt, or keeps it while a turn runs.
func (c *conversation) query(ctx context.Context, prompt string) error {
	c.mu.Lock()
	s := c.current
	switch {
	case !c.connected:
		c.mu.Unlock()
		return c.notConnected("send a query")
	case c.busy && !s.lost(): // its turn may not be forgotten yet
		c.held = append(c.held, prompt)
		c.mu.Unlock()
		return nil
	case s.state.GetState().State.IsTerminal() && c.mayResume():
		c.busy, c.held = true, []string{prompt}
		c.mu.Unlock()
		return c.resume(ctx)
	}
	if err := s.state.Transition(StateRunning); err != nil { // the process has ended
		c.mu.Unlock()
		return s.handler.requests.why(ctx, errors.New("the CLI has ended"))
	}
	c.busy = true
	c.mu.Unlock()
	err := s.write(ctx, prompt)
	if err != nil && ctx.Err() != nil { // nothing was sent
		c.nextTurn(s)
	}
	return err
}

func (c *conversation) notConnected(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var state SessionState
	if c.current != nil {
		state = c.current.state.GetState().State
	}
	return &InvalidStateError{Current: state, what: what + ": call Connect first"}
}

// session returns the last process, for an operation: after its end, its requests fail.
func (c *conversation) session(what string) (*session, error) {
	c.mu.Lock()
	s := c.current
	c.mu.Unlock()
	if s == nil {
		return nil, c.notConnected(what)
	}
	return s, nil
}

// steer sends a prompt at once.
func (c *conversation) steer(ctx context.Context, prompt string) error {
	c.mu.Lock()
	s, connected := c.current, c.connected
	c.mu.Unlock()
	if !connected {
		return c.notConnected("steer")
	}
	return s.write(ctx, prompt)
}

// sawMessage notes the session's id, and a turn that the CLI begins by itself. It is called by the reader.
func (c *conversation) sawMessage(s *session, m Message) {
	system, ok := m.(*SystemMessage)
	if !ok || system.Subtype != "init" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID = system.id
	if s.state.GetState().State == StateIdle {
		_ = s.state.Transition(StateRunning) // idle may always be followed by it
		c.busy = true
	}
}

// sawResult ends a turn. It is called by the reader.
func (c *conversation) sawResult(s *session) {
	s.state.drop()
	if !c.keepAlive() {
		if s.state.Transition(StateIdle) == nil { // else it is being closed
			s.mu.Lock()
			s.served = true
			s.mu.Unlock()
			go c.restart(s)
		}
		return
	}
	c.nextTurn(s)
}

// nextTurn begins a turn with the prompt that has waited longest, after another turn.
func (c *conversation) nextTurn(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.state.Transition(StateIdle) != nil {
		return // it is being closed
	}
	if prompt, ok := c.nextPrompt(s); ok {
		go func() { _ = s.write(context.Background(), prompt) }() // if it fails, the reader says so
	}
}

// restart ends a process after its turn, and starts the next one if a prompt waits.
func (c *conversation) restart(s *session) {
	s.finish(StateCompleted, nil)
	s.stop(context.Background())
	c.mu.Lock()
	again := len(c.held) > 0 && c.connected
	c.busy = again
	c.mu.Unlock()
	if !again {
		c.mail.wake()
		return
	}
	if err := c.resume(context.Background()); err != nil {
		c.mail.put(delivery{err: err})
	}
}

// sawEnd forgets the turn of a process that has ended. It is called by the reader.
func (c *conversation) sawEnd(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == c.current && !s.served { // else restart goes on
		c.busy, c.held = false, nil
	}
}

// setServers changes the servers of the processes to come.
func (c *conversation) setServers(servers map[string]McpServerConfig) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.o.MCPServers = maps.Clone(servers)
}

// isOver reports whether nothing more can be received.
func (c *conversation) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return true
	}
	return c.current.isOver() && !c.busy && (!c.connected || !c.mayResume())
}

func (c *conversation) disconnect(ctx context.Context) {
	c.mu.Lock()
	s, connected := c.current, c.connected
	c.connected, c.held = false, nil
	c.mu.Unlock()
	if s == nil {
		return
	}
	if connected {
		if s.state.GetState().State == StateIdle {
			s.finish(StateCompleted, nil)
		}
		s.finish(StateCancelled, nil) // unless it is completed
	}
	s.stop(ctx)
	c.mu.Lock()
	c.busy = c.busy && c.connected
	c.mu.Unlock()
	c.mail.wake()
}
