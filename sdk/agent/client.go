package agentsdk

import (
	"context"
	"encoding/json"
	"iter"
	"sync/atomic"
)

// ClientOptions configure a client.
type ClientOptions struct {
	AgentOptions
	// KeepAlive keeps the process between queries; nil means true. With false, each query starts a process that resumes
	// the session.
	KeepAlive *bool
	// ReconnectOnError lets the next query start a new process, which resumes the session, after the CLI has ended
	// unexpectedly. A turn that was lost is not sent again.
	ReconnectOnError bool
}

// A ClaudeCodeClient has a conversation of several turns with a CLI. It is safe for concurrent use.
type ClaudeCodeClient struct {
	turns     *conversation
	receiving atomic.Bool
}

// NewClaudeCodeClient returns a client. A mistake in the options is an *OptionError. Nothing is started.
func NewClaudeCodeClient(o ClientOptions) (*ClaudeCodeClient, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.AgentOptions = copyOptions(o.AgentOptions)
	return &ClaudeCodeClient{turns: &conversation{o: o, mail: newMailbox()}}, nil
}

// Connect starts the CLI and does the handshake, which ctx bounds. Several prompts are one turn each.
func (c *ClaudeCodeClient) Connect(ctx context.Context, prompt ...string) error {
	for _, p := range prompt {
		if err := requirePrompt(p); err != nil {
			return err
		}
	}
	return c.turns.connect(ctx, prompt)
}

// Query sends a prompt, which becomes one turn with one result. While a turn runs, the prompt is kept, and is sent after
// its result.
func (c *ClaudeCodeClient) Query(ctx context.Context, prompt string) error {
	if err := requirePrompt(prompt); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.turns.query(ctx, prompt)
}

// Steer sends a prompt at once, also into a running turn. The CLI may merge it, so it has no result of its own.
func (c *ClaudeCodeClient) Steer(ctx context.Context, prompt string) error {
	if err := requirePrompt(prompt); err != nil {
		return err
	}
	return c.turns.steer(ctx, prompt)
}

// ReceiveResponse yields messages up to the next result, which is the last one. Messages between turns come first. An
// error is the last thing that is yielded. Only one receiver may be active.
func (c *ClaudeCodeClient) ReceiveResponse(ctx context.Context) iter.Seq2[Message, error] {
	return c.receive(ctx, true)
}

// ReceiveMessages yields messages until the session ends. ctx only ends the iteration.
func (c *ClaudeCodeClient) ReceiveMessages(ctx context.Context) iter.Seq2[Message, error] {
	return c.receive(ctx, false)
}

func (c *ClaudeCodeClient) receive(ctx context.Context, oneTurn bool) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if !c.receiving.CompareAndSwap(false, true) {
			yield(nil, &InvalidStateError{what: "receive: another receiver is active"})
			return
		}
		defer c.receiving.Store(false)
		if c.GetState() == nil {
			yield(nil, c.turns.notConnected("receive"))
			return
		}
		for {
			d, ok, err := c.turns.mail.take(ctx, c.turns.isOver)
			switch {
			case err != nil:
				yield(nil, err)
				return
			case !ok:
				return
			case d.err != nil:
				yield(nil, d.err)
				return
			case d.message == nil: // the expected end of a process
				continue
			}
			_, isResult := d.message.(*ResultMessage)
			if !yield(d.message, nil) || isResult && oneTurn {
				return
			}
		}
	}
}

// Interrupt ends the running turn. Prompts that wait are sent after its result.
func (c *ClaudeCodeClient) Interrupt(ctx context.Context) (InterruptReceipt, error) {
	s, err := c.turns.session("interrupt")
	if err != nil {
		return InterruptReceipt{}, err
	}
	return s.interrupt(ctx)
}

// SendRequest sends any control request, and returns the payload of its answer.
func (c *ClaudeCodeClient) SendRequest(ctx context.Context, subtype string, fields map[string]any) (json.RawMessage, error) {
	s, err := c.turns.session(subtype)
	if err != nil {
		return nil, err
	}
	return s.handler.SendRequest(ctx, subtype, fields)
}

// ask sends a control request and reads its answer, whose members are all optional.
func (c *ClaudeCodeClient) ask(ctx context.Context, subtype string, fields map[string]any, answer any) error {
	payload, err := c.SendRequest(ctx, subtype, fields)
	if err == nil && json.Unmarshal(payload, answer) != nil {
		err = &ControlProtocolError{Subtype: subtype, Message: "the answer has members of other types: " + shorten(payload)}
	}
	return err
}

// SetPermissionMode changes the permission mode.
func (c *ClaudeCodeClient) SetPermissionMode(ctx context.Context, mode string) error {
	return c.ask(ctx, "set_permission_mode", map[string]any{"mode": mode}, &struct{}{})
}

// SetModel changes the model, or returns to that of the session if it is empty. It returns the id of the new one.
func (c *ClaudeCodeClient) SetModel(ctx context.Context, model string) (string, error) {
	fields := map[string]any{}
	if model != "" {
		fields["model"] = model
	}
	var answer struct{ Model string }
	err := c.ask(ctx, "set_model", fields, &answer)
	return answer.Model, err
}

// An MCPServerInfo describes an MCP server that the CLI knows.
type MCPServerInfo struct {
	Name       string            `json:"name"`
	Status     string            `json:"status"` // connected, failed, needs-auth, pending or disabled
	Transport  string            `json:"transport"`
	Scope      string            `json:"scope"`
	Source     string            `json:"source"`
	ServerInfo json.RawMessage   `json:"serverInfo"`
	Tools      []json.RawMessage `json:"tools"`
}

// MCPStatus returns the MCP servers.
func (c *ClaudeCodeClient) MCPStatus(ctx context.Context) ([]MCPServerInfo, error) {
	var answer struct {
		Servers []MCPServerInfo `json:"mcpServers"`
	}
	err := c.ask(ctx, "mcp_status", nil, &answer)
	return answer.Servers, err
}

// An MCPServersChange says what has become of a new set of servers.
type MCPServersChange struct {
	Added   []string          `json:"added"`
	Removed []string          `json:"removed"`
	Errors  map[string]string `json:"errors"`
}

// SetMCPServers replaces all MCP servers, also those in this program.
func (c *ClaudeCodeClient) SetMCPServers(ctx context.Context, servers map[string]McpServerConfig) (MCPServersChange, error) {
	var change MCPServersChange
	o := AgentOptions{MCPServers: servers}
	if err := o.checkServers(); err != nil {
		return change, err
	}
	s, err := c.turns.session("set MCP servers")
	if err != nil {
		return change, err
	}
	configs := map[string]any{}
	for name, server := range servers {
		configs[name] = server
		if _, ours := server.(*McpSdkServerConfig); ours {
			configs[name] = map[string]any{"type": "sdk", "name": name}
		}
	}
	before := s.handler.mcp.add(servers) // the CLI may ask new servers before it answers
	if err := c.ask(ctx, "mcp_set_servers", map[string]any{"servers": configs}, &change); err != nil {
		s.handler.mcp.replace(before)
		return change, err
	}
	s.handler.mcp.replace(o.inProcess())
	c.turns.setServers(servers)
	return change, nil
}

// NotifyToolsChanged tells the CLI that the tools of a server in this program have changed. It asks for them again.
func (c *ClaudeCodeClient) NotifyToolsChanged(ctx context.Context, server string) error {
	_, err := c.SendRequest(ctx, "mcp_message", map[string]any{
		"server_name": server, "message": map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
	})
	return err
}

// ServerInfo returns the CLI's answer to initialize; the zero value before the first Connect.
func (c *ClaudeCodeClient) ServerInfo() InitializeResult {
	c.turns.mu.Lock()
	s := c.turns.current
	c.turns.mu.Unlock()
	if s == nil {
		return InitializeResult{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.init
}

// Disconnect shuts the CLI down, and returns after it has ended. It may be called several times.
func (c *ClaudeCodeClient) Disconnect(ctx context.Context) error {
	c.turns.disconnect(ctx)
	return nil
}

// IsConnected reports whether the process runs.
func (c *ClaudeCodeClient) IsConnected() bool {
	c.turns.mu.Lock()
	defer c.turns.mu.Unlock()
	return c.turns.connected && c.turns.current != nil && !c.turns.current.isOver()
}

// GetState returns what the session is doing; nil before the first Connect.
func (c *ClaudeCodeClient) GetState() *SessionStateInfo {
	c.turns.mu.Lock()
	defer c.turns.mu.Unlock()
	if c.turns.current == nil {
		return nil
	}
	return new(c.turns.current.state.GetState())
}
