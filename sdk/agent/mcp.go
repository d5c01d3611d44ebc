package agentsdk

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// protocolVersions has the versions of MCP that a server accepts, with the newest first.
var protocolVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"}

// An McpServerConfig is an MCP server: McpStdioServerConfig and McpHttpServerConfig are started or called by the CLI, and
// *McpSdkServerConfig is part of this program.
type McpServerConfig interface{ isMcpServerConfig() }

// An McpStdioServerConfig is a program that the CLI starts.
type McpStdioServerConfig struct {
	Command string
	Args    []string
	Env     map[string]string
}

// An McpHttpServerConfig is a server that the CLI calls.
type McpHttpServerConfig struct {
	Type    string // "http", which is the default, or "sse"
	URL     string
	Headers map[string]string
}

// An McpSdkServerConfig is a server in this program. [CreateSdkMcpServer] makes one. Several sessions may share it.
type McpSdkServerConfig struct {
	options  SdkMcpServerOptions
	registry *ToolRegistry
}

func (McpStdioServerConfig) isMcpServerConfig() {}
func (McpHttpServerConfig) isMcpServerConfig()  {}
func (*McpSdkServerConfig) isMcpServerConfig()  {}

// MarshalJSON writes what the CLI reads.
func (c McpStdioServerConfig) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
	}{"stdio", c.Command, c.Args, c.Env})
}

// MarshalJSON writes what the CLI reads.
func (c McpHttpServerConfig) MarshalJSON() ([]byte, error) {
	if c.Type == "" {
		c.Type = "http"
	}
	return encode(struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
	}(c))
}

// SdkMcpServerOptions describe a server in this program.
type SdkMcpServerOptions struct {
	Name         string
	Version      string // default 1.0.0
	Instructions string // for the model
	Tools        []SdkTool
	Timeout      time.Duration // the CLI's limit of a call, at least a second; zero means none
	AlwaysLoad   bool          // of all its tools
}

// CreateSdkMcpServer makes a server of tools.
func CreateSdkMcpServer(o SdkMcpServerOptions) (*McpSdkServerConfig, error) {
	if o.Name == "" {
		return nil, &OptionError{Option: "Name", Message: "a server needs a name"}
	}
	if o.Timeout != 0 && o.Timeout < time.Second {
		return nil, &OptionError{Option: "Timeout", Message: fmt.Sprintf("server %q: %v is too short, the CLI demands at least 1s", o.Name, o.Timeout)}
	}
	r := NewToolRegistry()
	for _, t := range o.Tools {
		if err := r.Register(t); err != nil {
			return nil, err
		}
	}
	return serverOf(o, r), nil
}

func serverOf(o SdkMcpServerOptions, r *ToolRegistry) *McpSdkServerConfig {
	if o.Version == "" {
		o.Version = "1.0.0"
	}
	return &McpSdkServerConfig{options: o, registry: r}
}

// Registry returns the tools of the server.
func (c *McpSdkServerConfig) Registry() *ToolRegistry { return c.registry }

func (c *McpSdkServerConfig) initializeResult(requested string) any {
	version := protocolVersions[0]
	if slices.Contains(protocolVersions, requested) {
		version = requested
	}
	return struct {
		ProtocolVersion string         `json:"protocolVersion"`
		Capabilities    map[string]any `json:"capabilities"`
		ServerInfo      map[string]any `json:"serverInfo"`
		Instructions    string         `json:"instructions,omitempty"`
	}{
		version, map[string]any{"tools": map[string]any{"listChanged": true}},
		map[string]any{"name": c.options.Name, "version": c.options.Version}, c.options.Instructions,
	}
}

type listedTool struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	InputSchema JSONSchema       `json:"inputSchema"`
	Annotations *ToolAnnotations `json:"annotations,omitempty"`
	Meta        map[string]any   `json:"_meta,omitempty"`
}

func (c *McpSdkServerConfig) listResult() any {
	tools := []listedTool{}
	for _, t := range c.registry.List() {
		listed := listedTool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, Annotations: t.Annotations}
		if t.AlwaysLoad || c.options.AlwaysLoad {
			listed.Meta = map[string]any{"anthropic/alwaysLoad": true}
		}
		tools = append(tools, listed)
	}
	return map[string]any{"tools": tools}
}

// An rpcMessage is a JSON-RPC message of the CLI.
type rpcMessage struct {
	id     json.RawMessage // nil for a notification or a response
	method string          // empty for a response
	params json.RawMessage
}

// The errors of JSON-RPC.
const (
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
	internalError  = -32603
)

// parseRPC returns false if the message is not one of JSON-RPC 2.0.
func parseRPC(message json.RawMessage) (rpcMessage, bool) {
	var m rpcMessage
	var version string
	var asks, named, answers bool
	for name, value := range members(message) {
		switch name {
		case "jsonrpc":
			version, _ = viewOf(value)
		case "method":
			asks = true
			m.method, named = viewOf(value)
		case "id":
			m.id = value
		case "params":
			m.params = value
		case "result", "error":
			answers = true
		}
	}
	if missing(m.id) {
		m.id = nil
	}
	validID := m.id == nil || kindOf(m.id) == '"' || kindOf(m.id) == '-'
	answers = answers && !asks
	if answers {
		m.id = nil
	}
	if version != "2.0" || !validID || !named && !answers {
		return rpcMessage{}, false
	}
	return m, true
}

// An rpcReply is the answer to a message.
type rpcReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcProblem     `json:"error,omitempty"`
}

type rpcProblem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r rpcReply) wrapped() any {
	return struct {
		Reply rpcReply `json:"mcp_response"`
	}{r}
}

// rpcStub acknowledges a notification or a response.
var rpcStub = rpcResult(json.RawMessage("0"), struct{}{})

func rpcResult(id json.RawMessage, result any) rpcReply {
	return rpcReply{JSONRPC: "2.0", ID: id, Result: result}
}

func rpcError(id json.RawMessage, code int, message string) rpcReply {
	return rpcReply{JSONRPC: "2.0", ID: id, Error: &rpcProblem{code, message}}
}

// answer answers everything but tools/call.
func (c *McpSdkServerConfig) answer(m rpcMessage) rpcReply {
	if m.id == nil {
		return rpcStub
	}
	switch m.method {
	case "initialize":
		var params struct{ ProtocolVersion string }
		_ = json.Unmarshal(m.params, &params) // without a version, the answer has the newest
		return rpcResult(m.id, c.initializeResult(params.ProtocolVersion))
	case "ping":
		return rpcResult(m.id, struct{}{})
	case "tools/list":
		return rpcResult(m.id, c.listResult())
	}
	return rpcError(m.id, methodNotFound, "Method not found")
}

// manifest returns what the CLI would ask the server for; nil if it has no tools.
func (c *McpSdkServerConfig) manifest() any {
	if len(c.registry.List()) == 0 {
		return nil
	}
	return map[string]any{"initializeResult": c.initializeResult(protocolVersions[0]), "toolsListResult": c.listResult()}
}

// callParams reads the parameters of tools/call.
func callParams(m rpcMessage, server, session string) (tc ToolContext, args json.RawMessage, err error) {
	tc = ToolContext{ServerName: server, SessionID: session}
	tc.ToolUseID, _ = idText(m.id)
	named := false
	for name, value := range members(m.params) {
		switch name {
		case "name":
			tc.ToolName, named = stringOf(value)
		case "arguments":
			args = value
		case "_meta":
			for key, value := range members(value) {
				if id, ok := stringOf(value); ok && key == "claudecode/toolUseId" {
					tc.ToolUseID = id
				}
				if key == "progressToken" {
					_ = json.Unmarshal(value, &tc.ProgressToken) // it is valid JSON
				}
			}
		}
	}
	switch {
	case !named:
		return tc, nil, fmt.Errorf("params have no name of a tool")
	case missing(args):
		args = json.RawMessage("{}")
	case kindOf(args) != '{':
		return tc, nil, fmt.Errorf("the arguments of tool %q are not an object", tc.ToolName)
	}
	return tc, args, nil
}

// idText returns the id of a request as a text.
func idText(id json.RawMessage) (string, bool) {
	if s, ok := stringOf(id); ok {
		return s, true
	}
	return string(id), id != nil
}
