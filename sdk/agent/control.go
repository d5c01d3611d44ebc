package agentsdk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"
)

// ProtocolOptions configure a ControlProtocolHandler.
type ProtocolOptions struct {
	CanUseTool             CanUseTool
	Hooks                  map[string][]HookMatcher
	OnElicitation          func(ctx context.Context, r ElicitationRequest) (ElicitationResult, error)
	Initialize             map[string]any // further fields of the initialize request
	DisableManifests       bool
	MaxConcurrentToolCalls int           // 0 means no limit; other calls wait
	InitializeTimeout      time.Duration // default 60 s; negative means none
	RequestTimeout         time.Duration // default 30 s; negative means none
	RequestIDFunc          func() string // makes the ids of requests, for tests
	OnMessage              func(Message) // in the order of the wire; called by the reader, so it must not block
	OnWarning              func(string)  // the same
}

// An InitializeResult is the CLI's answer to initialize. Older CLIs leave out members.
type InitializeResult struct {
	Version        string                                `json:"claude_code_version"`
	PermissionMode string                                `json:"current_permission_mode"`
	SessionState   string                                `json:"session_state"`
	PID            int                                   `json:"pid"`
	Capabilities   []string                              `json:"capabilities"`
	Commands       []struct{ Name, Description string }  `json:"commands"`
	Models         []struct{ Value, DisplayName string } `json:"models"`
	Raw            json.RawMessage                       `json:"-"` // everything
}

const defaultRequestTimeout = 30 * time.Second

// An observer hears about everything, from the reader or under a lock: it must not block.
type observer interface {
	message(Message)
	warning(string)
	toolStarted(PendingToolCall)
	toolEnded(ToolResultInfo)
	permissionStarted(PendingPermission)
	permissionEnded(requestID string)
	broken(error) bool // a write has failed; returns whether it ends the transport
	ended(error) error // the transport has ended; returns why requests fail from now on
}

// A ControlProtocolHandler speaks the control protocol with a CLI: it sends requests, and answers those of the CLI, by
// which it calls tools, asks for permissions and runs hooks. [ClaudeCodeAgent] and [ClaudeCodeClient] use one for each
// session.
type ControlProtocolHandler struct {
	o         ProtocolOptions
	wire      *wire
	seen      observer
	requests  *requests
	inbox     *inbox
	mcp       *mcpHost
	callbacks *callbacks
	reading   sync.Once
	done      chan struct{} // closed when the reader has ended
}

// NewControlProtocolHandler returns a handler for a transport that is connected. It reads from
// [ControlProtocolHandler.Initialize] on, until the transport ends.
func NewControlProtocolHandler(t Transport, o ProtocolOptions) *ControlProtocolHandler {
	return newHandler(t, o, optionsObserver{&o})
}

func newHandler(t Transport, o ProtocolOptions, seen observer) *ControlProtocolHandler {
	h := &ControlProtocolHandler{o: o, seen: seen, inbox: newInbox(), done: make(chan struct{})}
	h.wire = &wire{Transport: t, broken: func(err error) {
		if !seen.broken(err) {
			h.requests.close(connectionError("write to the CLI", err))
		}
	}}
	h.requests = newRequests(h.wire, o.RequestIDFunc)
	r := &responder{wire: h.wire, inbox: h.inbox}
	h.mcp = &mcpHost{responder: r, seen: seen, servers: map[string]*McpSdkServerConfig{}}
	h.mcp.sessionID.Store("")
	if o.MaxConcurrentToolCalls > 0 {
		h.mcp.slots = make(chan struct{}, o.MaxConcurrentToolCalls)
	}
	hooks, _ := registerHooks(o.Hooks)
	h.callbacks = &callbacks{responder: r, o: &h.o, hooks: hooks, seen: seen}
	return h
}

// RegisterToolRegistry serves the tools of a registry as an MCP server of this name, which no other server may have.
func (h *ControlProtocolHandler) RegisterToolRegistry(server string, r *ToolRegistry) error {
	return h.mcp.register(server, serverOf(SdkMcpServerOptions{Name: server}, r))
}

// Initialize does the handshake. Requests of the CLI are answered from before it is sent.
func (h *ControlProtocolHandler) Initialize(ctx context.Context) (InitializeResult, error) {
	h.reading.Do(func() { go h.read() })
	fields := maps.Clone(h.o.Initialize)
	if fields == nil {
		fields = map[string]any{}
	}
	if _, hooks := registerHooks(h.o.Hooks); len(hooks) > 0 {
		fields["hooks"] = hooks
	}
	h.mcp.announce(fields, !h.o.DisableManifests)
	payload, err := h.requests.send(ctx, "initialize", fields, cmp.Or(h.o.InitializeTimeout, 60*time.Second))
	result := InitializeResult{Raw: payload}
	if err == nil {
		_ = json.Unmarshal(payload, &result) // all members are optional
	}
	return result, err
}

// SendRequest sends any control request, and returns the payload of its answer; {} if it has none. It may be called from
// any goroutine, also from a tool or a callback.
func (h *ControlProtocolHandler) SendRequest(ctx context.Context, subtype string, fields map[string]any) (json.RawMessage, error) {
	return h.requests.send(ctx, subtype, fields, cmp.Or(h.o.RequestTimeout, defaultRequestTimeout))
}

// close fails all requests, now and later, and ends the contexts of all handlers and callbacks.
func (h *ControlProtocolHandler) close(err error) {
	h.requests.close(err)
	h.inbox.stop()
}

// read reads until the transport ends. It is the only reader, and never blocks on anything else.
func (h *ControlProtocolHandler) read() {
	defer close(h.done)
	var end error
	for line, err := range h.wire.ReadMessages() {
		if err != nil {
			end = err
			break
		}
		h.callbacks.settler.settle()
		h.receive(line)
	}
	h.close(h.seen.ended(end))
}

func (h *ControlProtocolHandler) receive(line json.RawMessage) {
	if !json.Valid(line) {
		h.seen.warning("not JSON: " + shorten(line))
		return
	}
	var typ string
	typed, hostOnly := false, false
	var body, id json.RawMessage
	for name, value := range members(line) {
		switch name {
		case "type":
			typ, typed = viewOf(value)
		case "request", "response":
			body = value
		case "request_id":
			id = value
		case "sdk_host_only":
			hostOnly = kindOf(value) == 't'
		}
	}
	switch {
	case !typed:
		h.seen.warning("not an object with a type: " + shorten(line))
	case typ == "keep_alive":
	case typ == "control_response":
		if !h.requests.resolve(body) {
			h.seen.warning("a control_response without a response or request_id: " + shorten(line))
		}
	case typ == "control_cancel_request":
		if request, ok := stringOf(id); ok {
			h.inbox.cancel(request)
		}
	case typ == "control_request":
		if request, ok := stringOf(id); ok {
			h.dispatch(request, body)
		} else {
			h.seen.warning("a control_request without a request_id: " + shorten(line))
		}
	case !hostOnly:
		h.deliver(typ, line)
	}
}

// dispatch answers a request of the CLI. It runs on the reader: what may take time gets a goroutine.
func (h *ControlProtocolHandler) dispatch(id string, request json.RawMessage) {
	if h.inbox.has(id) {
		return
	}
	if kindOf(request) != '{' {
		h.callbacks.refuse(id, "control request has no request object", "")
		return
	}
	var subtype, server string
	var message json.RawMessage
	for name, value := range members(request) {
		switch name {
		case "subtype":
			subtype, _ = viewOf(value)
		case "server_name":
			server, _ = stringOf(value)
		case "message":
			message = value
		}
	}
	switch subtype {
	case "":
		h.callbacks.refuse(id, "control request has no subtype", "")
	case "mcp_message":
		h.mcp.serve(id, server, message)
	case "can_use_tool":
		h.callbacks.permission(id, request)
	case "hook_callback":
		h.callbacks.hook(id, request)
	case "elicitation":
		h.callbacks.elicitation(id, request)
	case "request_user_dialog": // only for hosts that declare dialogs
	default:
		h.callbacks.refuse(id, fmt.Sprintf("unsupported control request %q", subtype), "unsupported_request")
	}
}

func (h *ControlProtocolHandler) deliver(typ string, line json.RawMessage) {
	m := parseMessage(typ, line)
	if system, ok := m.(*SystemMessage); ok && system.Subtype == "init" {
		h.mcp.sessionID.Store(system.id)
	}
	h.seen.message(m)
}

// optionsObserver is the observer of a handler that is used without a session.
type optionsObserver struct{ o *ProtocolOptions }

func (s optionsObserver) message(m Message) {
	if s.o.OnMessage != nil {
		s.o.OnMessage(m)
	}
}

func (s optionsObserver) warning(text string) {
	if s.o.OnWarning != nil {
		s.o.OnWarning(text)
	}
}
func (optionsObserver) toolStarted(PendingToolCall)         {}
func (optionsObserver) toolEnded(ToolResultInfo)            {}
func (optionsObserver) permissionStarted(PendingPermission) {}
func (optionsObserver) permissionEnded(string)              {}
func (optionsObserver) broken(error) bool                   { return false }
func (optionsObserver) ended(err error) error {
	return connectionError("the CLI has ended", err)
}
