package agentsdk

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A ToolCallInfo is a tool call that begins.
type ToolCallInfo struct {
	ToolUseID  string          `json:"toolUseId"`
	ToolName   string          `json:"toolName"`
	ServerName string          `json:"serverName"`
	Arguments  json.RawMessage `json:"arguments"`
}

// A ToolResultInfo is a tool call that has ended.
type ToolResultInfo struct {
	ToolUseID  string        `json:"toolUseId"`
	ToolName   string        `json:"toolName"`
	ServerName string        `json:"serverName"`
	Result     ToolResult    `json:"result"` // what the model sees, also after an error
	IsError    bool          `json:"isError"`
	Err        error         `json:"-"` // a *ToolExecutionError; or why the context ended, if the call was cancelled
	Duration   time.Duration `json:"-"`
}

// An mcpHost serves the MCP servers of this program.
type mcpHost struct {
	*responder
	seen      observer
	slots     chan struct{} // one for each tool call that may run; nil means no limit
	sessionID atomic.Value  // of the last system/init: a string

	mu      sync.Mutex
	servers map[string]*McpSdkServerConfig
}

// serve answers a message to one of the servers.
func (h *mcpHost) serve(id, name string, message json.RawMessage) {
	server := h.server(name)
	if server == nil {
		h.refuse(id, fmt.Sprintf("no in-process MCP server named %q", name), "")
		return
	}
	m, ok := parseRPC(message)
	switch {
	case !ok:
		h.post(mcpLine(id, rpcError(nil, invalidRequest, "not a JSON-RPC 2.0 message")))
	case m.method == "tools/call" && m.id != nil:
		h.serveCall(id, name, server, m)
	default:
		if m.method == "notifications/cancelled" {
			h.cancelCall(name, m.params)
		}
		h.post(mcpLine(id, server.answer(m)))
	}
}

// cancelCall cancels the call that a notification names.
func (h *mcpHost) cancelCall(server string, params json.RawMessage) {
	for key, value := range members(params) {
		if key == "requestId" {
			h.inbox.cancelCall(server + "\n" + string(value))
		}
	}
}

func (h *mcpHost) serveCall(id, name string, server *McpSdkServerConfig, m rpcMessage) {
	tc, args, err := callParams(m, name, h.sessionID.Load().(string))
	if err != nil {
		h.post(mcpLine(id, rpcError(m.id, invalidParams, err.Error())))
		return
	}
	c := &toolCall{host: h, server: server, tc: tc, args: args, rpcID: m.id}
	c.in = incoming{id: id, call: name + "\n" + string(m.id), start: c.start}
	h.inbox.add(&c.in, true)
}

// A toolCall is a call of a tool, from its arrival to its response.
type toolCall struct {
	in          incoming
	host        *mcpHost
	server      *McpSdkServerConfig
	tc          ToolContext
	args, rpcID json.RawMessage
	began       time.Time
	ended       sync.Once
}

func (c *toolCall) start() {
	c.began = time.Now()
	c.host.seen.toolStarted(PendingToolCall{
		ToolUseID: c.tc.ToolUseID, ToolName: c.tc.ToolName, ServerName: c.tc.ServerName, Arguments: c.args, StartedAt: c.began.UTC(),
	})
	c.in.cancelled = func() { c.end(ErrorResult("cancelled"), context.Canceled) }
	c.host.inbox.run(c.run)
}

// run runs the tool and writes its response, unless the call was cancelled meanwhile.
func (c *toolCall) run() {
	result, err := c.host.callTool(c.in.ctx, c.server, c.tc, c.args)
	if failed, ok := err.(*ToolExecutionError); ok {
		result = ErrorResult(failed.Err.Error())
	}
	line := mcpLine(c.in.id, rpcResult(c.rpcID, result.wire()))
	_ = c.host.settler.write(func() error {
		if c.in.withdrawn.Load() {
			return nil
		}
		return c.host.write(line)
	}, func() {
		c.host.inbox.remove(&c.in)
		c.end(result, err)
	})
}

// end reports the end of the call, once.
func (c *toolCall) end(result ToolResult, err error) {
	c.ended.Do(func() {
		c.host.seen.toolEnded(ToolResultInfo{
			ToolUseID: c.tc.ToolUseID, ToolName: c.tc.ToolName, ServerName: c.tc.ServerName,
			Result: result, IsError: result.IsError, Err: err, Duration: time.Since(c.began),
		})
	})
}

// callTool runs a tool, after it has got a slot.
func (h *mcpHost) callTool(ctx context.Context, server *McpSdkServerConfig, tc ToolContext, args json.RawMessage) (ToolResult, error) {
	if h.slots != nil {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		case <-ctx.Done():
			return ToolResult{}, &ToolExecutionError{ToolName: tc.ToolName, Err: ctx.Err()}
		}
	}
	return server.registry.HandleToolCall(ctx, tc.ToolName, args, tc)
}

func (h *mcpHost) register(name string, c *McpSdkServerConfig) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.servers[name] != nil {
		return &OptionError{Option: "server", Message: fmt.Sprintf("there is another server named %q", name)}
	}
	h.servers[name] = c
	return nil
}

// replace serves these servers alone.
func (h *mcpHost) replace(servers map[string]*McpSdkServerConfig) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers = servers
}

// add serves these servers too, and returns those of before.
func (h *mcpHost) add(servers map[string]McpServerConfig) (before map[string]*McpSdkServerConfig) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before = maps.Clone(h.servers)
	maps.Copy(h.servers, (&AgentOptions{MCPServers: servers}).inProcess())
	return before
}

func (h *mcpHost) server(name string) *McpSdkServerConfig {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[name]
}

// announce adds the servers to the fields of initialize.
func (h *mcpHost) announce(fields map[string]any, withManifests bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.servers) == 0 {
		return
	}
	manifests, configs := map[string]any{}, map[string]any{}
	for name, server := range h.servers {
		if manifest := server.manifest(); manifest != nil && withManifests {
			manifests[name] = manifest
		}
		if limit := server.options.Timeout; limit > 0 {
			configs[name] = map[string]any{"timeout": limit.Milliseconds()}
		}
	}
	fields["sdkMcpServers"] = slices.Sorted(maps.Keys(h.servers))
	if len(manifests) > 0 {
		fields["sdkMcpServerManifests"] = manifests
	}
	if len(configs) > 0 {
		fields["sdkMcpServerConfigs"] = configs
	}
}
