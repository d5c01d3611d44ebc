package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// supported is the version of MCP that the CLI asks for.
const supported = "2025-11-25"

// A server is an MCP server in the SDK's program.
type server struct {
	name   string
	listed bool // its tools are known
	status string
	tools  []string
	calls  int // the last id of JSON-RPC
}

// A matcher selects the hooks of an event.
type matcher struct {
	tools *regexp.Regexp // nil matches all
	ids   []string
}

var modes = []string{"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"}

// flag returns the value of an argument.
func flag(args []string, name, otherwise string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return otherwise
}

// serve answers a control request of the SDK.
func (c *cli) serve(message object) error {
	id := message["request_id"]
	request, _ := message["request"].(object)
	subtype, _ := request["subtype"].(string)
	c.seen[subtype]++
	switch subtype {
	case "initialize":
		return c.initialize(id, request)
	case "interrupt":
		return c.interrupt(id)
	case "set_permission_mode":
		return c.setMode(id, request)
	case "set_model":
		name, _ := request["model"].(string)
		if name == "" || name == "default" {
			name = c.script.model
		}
		c.model = name
		return c.wire.respond(id, object{"model": name})
	case "set_max_thinking_tokens", "mcp_message":
		return c.wire.respond(id, nil)
	case "mcp_status":
		list := []any{}
		for _, s := range c.servers {
			list = append(list, object{"name": s.name, "status": s.status, "transport": "sdk", "source": "sdk", "tools": s.tools})
		}
		return c.wire.respond(id, object{"mcpServers": list})
	}
	return c.wire.refuse(id, "unsupported_request", fmt.Sprintf("agentcli does not know the control request %q", subtype))
}

func (c *cli) initialize(id any, request object) error {
	if c.script.refusal != "" {
		return c.wire.refuse(id, "", c.script.refusal)
	}
	if c.hooks != nil {
		return c.wire.refuse(id, "", "the session is initialized already")
	}
	if err := c.readHooks(request["hooks"]); err != nil {
		return c.wire.refuse(id, "", err.Error())
	}
	manifests, _ := request["sdkMcpServerManifests"].(object)
	names, _ := request["sdkMcpServers"].([]any)
	parked := object{}
	for _, n := range names {
		name, _ := n.(string)
		s := &server{name: name, status: "pending", calls: 1, tools: []string{}}
		c.servers = append(c.servers, s)
		if s.park(manifests[name]) {
			parked[name] = "parked"
			continue
		}
		version := object{"protocolVersion": supported, "capabilities": object{}, "clientInfo": object{"name": "agentcli", "version": "1.0.0"}}
		result, err := c.rpc(s, object{"id": 0, "method": "initialize", "params": version})
		if err != nil {
			return err
		}
		s.status = "connected"
		if result["protocolVersion"] == nil {
			s.status = "failed"
		}
	}
	payload := object{
		"commands": []any{}, "agents": []any{}, "models": []any{}, "output_style": "default", "claude_code_version": "0.0.0-agentcli",
		"current_permission_mode": c.mode, "session_state": "idle", "hooks_applied": true,
	}
	if len(parked) > 0 {
		payload["sdk_mcp_manifests_parked"] = parked
	}
	if request["mcpServers"] != nil {
		payload["mcp_servers_applied"] = true
	}
	maps.Copy(payload, c.script.initialize)
	return c.wire.respond(id, payload)
}

// park takes what a manifest says, and reports whether that replaces the handshake.
func (s *server) park(manifest any) bool {
	m, _ := manifest.(object)
	answer, _ := m["initializeResult"].(object)
	if answer["protocolVersion"] != supported {
		return false
	}
	list, _ := m["toolsListResult"].(object)
	s.list(list)
	s.status = "connected"
	return true
}

func (s *server) list(result object) {
	s.listed = true
	tools, _ := result["tools"].([]any)
	for _, t := range tools {
		tool, _ := t.(object)
		name, _ := tool["name"].(string)
		s.tools = append(s.tools, name)
	}
}

func (c *cli) readHooks(value any) error {
	c.hooks = map[string][]matcher{}
	events, _ := value.(object)
	for event, list := range events {
		matchers, _ := list.([]any)
		for _, m := range matchers {
			given, _ := m.(object)
			var read matcher
			if pattern, _ := given["matcher"].(string); pattern != "" && pattern != "*" {
				tools, err := regexp.Compile("^(?:" + pattern + ")$")
				if err != nil {
					return fmt.Errorf("matcher of %s: %w", event, err)
				}
				read.tools = tools
			}
			ids, _ := given["hookCallbackIds"].([]any)
			for _, id := range ids {
				text, _ := id.(string)
				read.ids = append(read.ids, text)
			}
			c.hooks[event] = append(c.hooks[event], read)
		}
	}
	return nil
}

// interrupt withdraws what waits, and then answers. The turn ends after that.
func (c *cli) interrupt(id any) error {
	queued := []string{}
	for _, p := range c.prompts {
		if p.uuid != "" {
			queued = append(queued, p.uuid)
		}
	}
	if c.running && c.waiting != "" {
		withdrawal := object{"type": "control_cancel_request", "request_id": c.waiting}
		if c.call != nil {
			withdrawal = object{"type": "control_request", "request_id": c.wire.id("request", "cli_%d"), "request": object{
				"subtype": "mcp_message", "server_name": c.call.server, "message": object{
					"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": c.call.id, "reason": "interrupted"},
				},
			}}
		}
		if err := c.wire.send(withdrawal); err != nil {
			return err
		}
	}
	c.interrupted = c.running
	return c.wire.respond(id, object{"still_queued": queued})
}

func (c *cli) setMode(id any, request object) error {
	mode, _ := request["mode"].(string)
	switch {
	case !slices.Contains(modes, mode):
		return c.wire.refuse(id, "invalid_mode", fmt.Sprintf("there is no permission mode %q", mode))
	case mode == "bypassPermissions" && !slices.Contains(c.args, "--allow-dangerously-skip-permissions"):
		return c.wire.refuse(id, "bypass_not_launched", "the session was not started with --allow-dangerously-skip-permissions")
	}
	if err := c.wire.respond(id, object{"mode": mode}); err != nil {
		return err
	}
	return c.changeMode(mode)
}

func (c *cli) changeMode(mode string) error {
	c.mode = mode
	return c.wire.emit(object{"type": "system", "subtype": "status", "status": nil, "permissionMode": mode})
}

// rpc sends a JSON-RPC message to a server in the SDK's program. An error is a result with isError; one without a place
// in the protocol ends the process.
func (c *cli) rpc(s *server, message object) (object, error) {
	message["jsonrpc"] = "2.0"
	response, err := c.ask(object{"subtype": "mcp_message", "server_name": s.name, "message": message})
	if err != nil {
		return nil, err
	}
	if response["subtype"] == "error" {
		return failure(fmt.Sprint(response["error"])), nil
	}
	payload, _ := response["response"].(object)
	reply, ok := payload["mcp_response"].(object)
	if !ok {
		return nil, fmt.Errorf("the SDK's answer to %v of server %q has no mcp_response", message["method"], s.name)
	}
	if problem, ok := reply["error"].(object); ok {
		return failure(cmp.Or(fmt.Sprint(problem["message"]), "error")), nil
	}
	result, _ := reply["result"].(object)
	return result, nil
}

// failure is the result of a call that has failed.
func failure(text string) object {
	return object{"content": []any{object{"type": "text", "text": text}}, "isError": true}
}
