package agentsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
	"github.com/lockstep-dev/lockstep/sdk/agent/agenttest"
)

// A rig is a session over a mock transport, inside of a synctest bubble.
type rig struct {
	t      *testing.T
	mock   *agenttest.MockTransport
	s      *agentsdk.AgentSession
	mu     sync.Mutex
	events []string
	ran    []string                 // what the tools have noted
	gates  map[string]chan struct{} // a tool named in it waits
}

func (r *rig) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

// tool notes what a tool does, on its own goroutine.
func (r *rig) tool(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, fmt.Sprintf(format, args...))
}

// take returns the events since the last call.
func (r *rig) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

type addition struct {
	A float64 `json:"a" jsonschema:"description=left"`
	B float64 `json:"b"`
}

// tools are those of the server "calc". wait ends when its gate opens, or with its context.
func (r *rig) tools(t *testing.T) *agentsdk.McpSdkServerConfig {
	t.Helper()
	raw := func(name string, f agentsdk.RawHandler) agentsdk.SdkTool {
		tool, err := agentsdk.RawTool(name, name, agentsdk.SimpleSchema(), f)
		if err != nil {
			t.Fatal(err)
		}
		return tool
	}
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calculator", Instructions: "be exact", Tools: []agentsdk.SdkTool{
		agentsdk.MustTool("add", "Add two numbers", func(_ context.Context, in addition, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			r.tool("tool %s %s %v in %q", tc.ServerName, tc.ToolUseID, tc.ProgressToken, tc.SessionID)
			return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil
		}, agentsdk.ReadOnly()),
		raw("fail", func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return agentsdk.ToolResult{}, errors.New("no <luck>")
		}),
		raw("panic", func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			panic("help")
		}),
		raw("empty", func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return agentsdk.ToolResult{StructuredContent: object{"n": 1}, Meta: object{"m": 2}}, nil
		}),
		raw("image", func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			image := agentsdk.ImageResult([]byte{1, 2}, "image/png")
			image.Content = append(image.Content, agentsdk.ToolResultContent{Raw: json.RawMessage(`{"type":"resource_link","uri":"u"}`)})
			return image, nil
		}),
		raw("broken", func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return agentsdk.ToolResult{StructuredContent: make(chan int)}, nil
		}),
		raw("wait", func(ctx context.Context, args json.RawMessage, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			r.tool("waits %s", tc.ToolUseID)
			select {
			case <-r.gates[tc.ToolUseID]:
				return agentsdk.TextResult("done"), nil
			case <-ctx.Done():
				r.tool("cancelled %s", tc.ToolUseID)
				return agentsdk.ToolResult{}, ctx.Err()
			}
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// newRig starts a session that runs.
func newRig(t *testing.T, change func(*agentsdk.AgentOptions)) *rig {
	t.Helper()
	r := &rig{t: t, mock: agenttest.NewMockTransport(agenttest.MockTransportOptions{AutoInitialize: true})}
	r.gates = map[string]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{})}
	o := agentsdk.AgentOptions{
		MCPServers: map[string]agentsdk.McpServerConfig{"calc": r.tools(t)}, NewTransport: r.mock.For,
		Events: agentsdk.Events{
			OnStateChange: func(c agentsdk.StateChange) { r.note("%s", c.To) },
			OnToolCall:    func(c agentsdk.ToolCallInfo) { r.note("call %s %s", c.ToolName, c.ToolUseID) },
			OnToolResult:  func(c agentsdk.ToolResultInfo) { r.note("result %s %s %v", c.ToolName, c.ToolUseID, c.IsError) },
			OnMessage:     func(m agentsdk.Message) { r.note("message %s", m.Type()) },
			OnComplete:    func(c agentsdk.SessionResult) { r.note("complete %v", c.Success) },
			OnError:       func(err error) { r.note("error %v", err) },
			OnWarning:     func(text string) { r.note("warning %s", text) },
		},
	}
	if change != nil {
		change(&o)
	}
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.s, err = agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "go"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.s.Abort(context.Background()) })
	if got := r.take(); !slices.Equal(got, []string{"starting", "running"}) {
		t.Fatalf("events at the start: %q", got)
	}
	return r
}

// send sends a line of the CLI.
func (r *rig) send(line string) {
	r.t.Helper()
	if err := r.mock.SimulateMessage(json.RawMessage(line)); err != nil {
		r.t.Fatal(err)
	}
}

// response returns the body of the response to a request, as JSON; "" if there is none.
func (r *rig) response(id string) string {
	synctest.Wait()
	for _, m := range r.mock.GetWrittenMessages() {
		if body, ok := m["response"].(object); ok && body["request_id"] == id {
			delete(body, "request_id")
			text, _ := json.Marshal(body)
			return string(text)
		}
	}
	return ""
}

// ask sends a control request, and returns the response.
func (r *rig) ask(id, request string) string {
	r.t.Helper()
	r.send(fmt.Sprintf(`{"request":%s,"request_id":%q,"type":"control_request"}`, request, id))
	return r.response(id)
}

func mcp(message string) string {
	return fmt.Sprintf(`{"subtype":"mcp_message","server_name":"calc","message":%s}`, message)
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	var g, w any
	if want == "" || json.Unmarshal([]byte(want), &w) != nil {
		t.Fatalf("%s: a wrong expectation: %s", what, want)
	}
	_ = json.Unmarshal([]byte(got), &g) // what is no JSON differs
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s: %s\n(-want +got):\n%s", what, got, diff)
	}
}

func TestMCPMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		info := `"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calculator","version":"1.0.0"},"instructions":"be exact"`
		stub := `{"jsonrpc":"2.0","result":{},"id":0}`
		text := func(id, text string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":%q}]}}`, id, text)
		}
		for message, want := range map[string]string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`:   `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05",` + info + `}}`,
			`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"1999-01-01"}}`: `{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2025-11-25",` + info + `}}`,
			`{"jsonrpc":"2.0","id":"b","method":"initialize"}`:                                           `{"jsonrpc":"2.0","id":"b","result":{"protocolVersion":"2025-11-25",` + info + `}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                     stub,
			`{"jsonrpc":"2.0","id":null,"method":"tools/call"}`:                                          stub,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`:             stub,
			`{"jsonrpc":"2.0","id":5,"result":{}}`:                                                       stub,
			`{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"m"}}`:                                  stub,
			`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                   `{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`:                                         `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`,
			`[]`:                       `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message"}}`,
			`{"id":3,"method":"ping"}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message"}}`,
			`{"jsonrpc":"2.0","id":[],"method":"ping"}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message"}}`,
			`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"add","arguments":{"a":1.5,"b":2,"more":true}}}`: `{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"3.5"}]}}`,
			`{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"arguments":{},"name":"empty"}}`:                      `{"jsonrpc":"2.0","id":"7","result":{"content":[],"structuredContent":{"n":1},"_meta":{"m":2}}}`,
			`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"empty","arguments":null}}`:                      `{"jsonrpc":"2.0","id":8,"result":{"content":[],"structuredContent":{"n":1},"_meta":{"m":2}}}`,
			`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"image"}}`:                                       `{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"image","data":"AQI=","mimeType":"image/png"},{"type":"resource_link","uri":"u"}]}}`,
			`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"fail"}}`:                                       text("10", "no <luck>"),
			`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"panic"}}`:                                      text("11", "help"),
			`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"none"}}`:                                       text("12", `unknown tool "none"`),
			`{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"arguments":{}}}`:                                      `{"jsonrpc":"2.0","id":13,"error":{"code":-32602,"message":"params have no name of a tool"}}`,
			`{"jsonrpc":"2.0","id":14,"method":"tools/call"}`:                                                                `{"jsonrpc":"2.0","id":14,"error":{"code":-32602,"message":"params have no name of a tool"}}`,
			`{"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"add","arguments":[1]}}`:                        `{"jsonrpc":"2.0","id":15,"error":{"code":-32602,"message":"the arguments of tool \"add\" are not an object"}}`,
			`{"jsonrpc":"2.0","id":16,"method":"tools/call","params":{"name":"broken"}}`:                                     `{"jsonrpc":"2.0","id":16,"error":{"code":-32603,"message":"json: unsupported type: chan int"}}`,
		} {
			same(t, message, r.ask(message, mcp(message)), `{"subtype":"success","response":{"mcp_response":`+want+`}}`)
		}
		same(t, "unknown server", r.ask("g", `{"subtype":"mcp_message","server_name":"ghost","message":{}}`), `{"subtype":"error","error":"no in-process MCP server named \"ghost\""}`)
		for _, args := range []string{`{"a":1}`, `{"a":1,"b":"2"}`} {
			got := r.ask("args"+args, mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":`+args+`}}`))
			if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `\"add\"`) || !strings.Contains(got, `b`) {
				t.Errorf("%s: %s", args, got)
			}
		}
		if events := r.take(); slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, "warning") }) {
			t.Errorf("events: %q", events)
		}
		if n := r.s.GetState().Stats.ToolCallCount; n != 10 || r.s.GetState().State != agentsdk.StateRunning {
			t.Errorf("%d calls: %+v", n, r.s.GetState())
		}
	})
}

func TestToolsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		got := r.ask("l", mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`))
		add := `{"name":"add","description":"Add two numbers","inputSchema":{"type":"object","properties":{"a":{"type":"number","description":"left"},"b":{"type":"number"}},"required":["a","b"]},"annotations":{"readOnlyHint":true}}`
		list := []string{add}
		for _, name := range []string{"fail", "panic", "empty", "image", "broken", "wait"} {
			list = append(list, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{}}}`, name, name))
		}
		same(t, "tools/list", got, `{"subtype":"success","response":{"mcp_response":{"jsonrpc":"2.0","id":1,"result":{"tools":[`+strings.Join(list, ",")+`]}}}}`)
		first := r.mock.GetWrittenMessages()[0]["request"].(object)
		manifest := first["sdkMcpServerManifests"].(object)["calc"].(object)
		if tools := manifest["toolsListResult"].(object)["tools"].([]any); len(tools) != 7 || manifest["initializeResult"].(object)["protocolVersion"] != "2025-11-25" {
			t.Errorf("manifest: %v", manifest)
		}
		if diff := cmp.Diff([]any{"calc"}, first["sdkMcpServers"]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestControlRequestsOfTheCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for request, want := range map[string]string{
			`{"subtype":"frobnicate"}`: `{"subtype":"error","error":"unsupported control request \"frobnicate\"","error_code":"unsupported_request"}`,
			`{"subtype":"initialize"}`: `{"subtype":"error","error":"unsupported control request \"initialize\"","error_code":"unsupported_request"}`,
			`{}`:                       `{"subtype":"error","error":"control request has no subtype"}`,
			`null`:                     `{"subtype":"error","error":"control request has no request object"}`,
			`{"subtype":"can_use_tool","tool_name":"Bash","input":{}}`:        `{"subtype":"error","error":"no permission callback"}`,
			`{"subtype":"hook_callback","callback_id":"hook_0","input":{}}`:   `{"subtype":"error","error":"unknown hook callback \"hook_0\""}`,
			`{"subtype":"elicitation","mcp_server_name":"s","message":"hi?"}`: `{"subtype":"success","response":{"action":"decline"}}`,
		} {
			same(t, request, r.ask(request, request), want)
		}
		if got := r.ask("d", `{"subtype":"request_user_dialog"}`); got != "" {
			t.Errorf("a dialog: %s", got)
		}
		r.send(`{"type":"control_request","request_id":"n"}`)
		same(t, "no request", r.response("n"), `{"subtype":"error","error":"control request has no request object"}`)
		if got := r.take(); len(got) > 0 {
			t.Errorf("events: %q", got)
		}
		r.send(`{"type":"control_request","request_id":7,"request":{"subtype":"x"}}`)
		r.send(`{"type":"control_response","response":{"request_id":"late","subtype":"success"}}`)
		if got := r.take(); len(got) != 1 || !strings.Contains(got[0], "without a request_id") {
			t.Errorf("events: %q", got)
		}
	})
}

func call(id int, tool, args string) string {
	return mcp(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args))
}

func TestTwoCallsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.ask("slow", call(1, "wait", "{}"))
		r.ask("fast", call(2, "wait", "{}"))
		if r.ask("fast", call(2, "wait", "{}")) != "" {
			t.Error("a request was answered before its end")
		}
		state := r.s.GetState()
		if state.State != agentsdk.StateWaitingToolCall || state.PendingToolCall.ToolUseID != "1" || len(r.s.PendingOperations()) != 2 {
			t.Errorf("state: %+v", state)
		}
		close(r.gates["2"])
		if r.response("fast") == "" || r.response("slow") != "" || r.s.GetState().State != agentsdk.StateWaitingToolCall {
			t.Errorf("the fast one: %+v", r.s.GetState())
		}
		close(r.gates["1"])
		if r.response("slow") == "" || r.s.GetState().State != agentsdk.StateRunning {
			t.Errorf("the slow one: %+v", r.s.GetState())
		}
		want := []string{"waiting_tool_call", "call wait 1", "call wait 2", "result wait 2 false", "result wait 1 false", "running"}
		if diff := cmp.Diff(want, r.take()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestACallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.ask("c", call(1, "wait", "{}"))
		r.ask("n", mcp(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}`))
		if got := r.response("c"); got != "" {
			t.Errorf("a cancelled call is answered: %s", got)
		}
		want := []string{"waiting_tool_call", "call wait 1", "result wait 1 true", "running"}
		if diff := cmp.Diff(want, r.take()); diff != "" || !slices.Equal(r.ran, []string{"waits 1", "cancelled 1"}) {
			t.Errorf("tools: %q, events (-want +got):\n%s", r.ran, diff)
		}
		r.ask("d", call(2, "wait", "{}"))
		r.send(`{"type":"control_cancel_request","request_id":"d"}`) // it ends the context, and the call is answered
		if got := r.response("d"); !strings.Contains(got, "context canceled") {
			t.Errorf("a withdrawn call: %s", got)
		}
		if info := r.s.GetState(); info.State != agentsdk.StateRunning || info.Stats.ToolCallCount != 2 {
			t.Errorf("state: %+v", info)
		}
	})
}

func TestPermissions(t *testing.T) {
	var answer func(ctx context.Context) (agentsdk.PermissionResult, error)
	var seen agentsdk.PermissionContext
	ask := func(r *rig, id string) string {
		return r.ask(id, `{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1","blocked_path":"/x",
			"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"mcp_server":{"name":"n","source":"s"}}`)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *agentsdk.AgentOptions) {
			o.CanUseTool = func(ctx context.Context, tool string, input map[string]any, pc agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
				seen = pc
				return answer(ctx)
			}
		})
		update := agentsdk.PermissionUpdate{Type: "addRules", Rules: []agentsdk.PermissionRule{{ToolName: "Bash"}}, Behavior: "allow", Destination: "session"}
		for i, tc := range []struct {
			result agentsdk.PermissionResult
			err    error
			want   string
		}{
			{agentsdk.Allow(), nil, `{"subtype":"success","response":{"behavior":"allow","toolUseID":"t1"}}`},
			{agentsdk.AllowWith(object{"command": "ls <x>"}, update), nil, `{"subtype":"success","response":{"behavior":"allow","toolUseID":"t1","updatedInput":{"command":"ls <x>"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}]}}`},
			{agentsdk.Deny("no"), nil, `{"subtype":"success","response":{"behavior":"deny","message":"no","toolUseID":"t1"}}`},
			{agentsdk.Deny(""), nil, `{"subtype":"success","response":{"behavior":"deny","message":"Permission denied.","toolUseID":"t1"}}`},
			{agentsdk.PermissionResult{}, nil, `{"subtype":"success","response":{"behavior":"deny","message":"Permission denied.","toolUseID":"t1"}}`},
			{agentsdk.DenyAndInterrupt("stop"), nil, `{"subtype":"success","response":{"behavior":"deny","message":"stop","interrupt":true,"toolUseID":"t1"}}`},
			{agentsdk.Allow(), errors.New("broken"), `{"subtype":"error","error":"broken"}`},
		} {
			answer = func(context.Context) (agentsdk.PermissionResult, error) { return tc.result, tc.err }
			same(t, tc.want, ask(r, fmt.Sprint("p", i)), tc.want)
		}
		if seen.BlockedPath != "/x" || seen.Suggestions[0].Mode != "acceptEdits" || seen.McpServer.Name != "n" || seen.RequestID != "p6" {
			t.Errorf("context: %+v", seen)
		}
		answer = func(context.Context) (agentsdk.PermissionResult, error) { panic("oh") }
		same(t, "panic", ask(r, "panic"), `{"subtype":"error","error":"oh"}`)
		r.take()
		answer = func(ctx context.Context) (agentsdk.PermissionResult, error) {
			<-ctx.Done()
			return agentsdk.Allow(), nil
		}
		ask(r, "withdrawn")
		if info := r.s.GetState(); info.State != agentsdk.StateWaitingPermission || info.PendingPermission.ToolInput["command"] != "ls" {
			t.Errorf("state: %+v", info)
		}
		r.send(`{"type":"control_cancel_request","request_id":"withdrawn"}`)
		if diff := cmp.Diff([]string{"waiting_permission", "running"}, r.take()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestAPermissionWhileACallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRig(t, func(o *agentsdk.AgentOptions) {
			o.CanUseTool = func(context.Context, string, map[string]any, agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
				<-gate
				return agentsdk.Allow(), nil
			}
		})
		r.ask("c", call(1, "wait", "{}"))
		r.ask("p", `{"subtype":"can_use_tool","tool_name":"Bash","input":{}}`)
		close(gate)
		synctest.Wait()
		close(r.gates["1"])
		want := []string{"waiting_tool_call", "call wait 1", "waiting_permission", "waiting_tool_call", "result wait 1 false", "running"}
		if diff := cmp.Diff(want, r.take()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var input agentsdk.HookInput
		hook := func(out agentsdk.HookOutput, err error) agentsdk.HookCallback {
			return func(ctx context.Context, in agentsdk.HookInput, id string) (agentsdk.HookOutput, error) {
				input = in
				if in.Prompt == "wait" {
					<-ctx.Done()
					return out, ctx.Err()
				}
				return out, err
			}
		}
		deny := agentsdk.HookOutput{Continue: new(false), StopReason: "s", HookSpecificOutput: &agentsdk.HookSpecificOutput{PermissionDecision: "deny", PermissionDecisionReason: "r"}}
		r := newRig(t, func(o *agentsdk.AgentOptions) {
			o.Hooks = map[string][]agentsdk.HookMatcher{
				"Stop":       {{Hooks: []agentsdk.HookCallback{hook(agentsdk.HookOutput{}, nil), hook(agentsdk.HookOutput{Raw: json.RawMessage(`{"new":1}`)}, nil)}}},
				"PreToolUse": {{Matcher: "Bash|Edit", Timeout: 1500 * time.Millisecond, OnFailure: "block", Hooks: []agentsdk.HookCallback{hook(deny, nil), hook(agentsdk.HookOutput{}, errors.New("bad"))}}},
			}
		})
		hooks, _ := json.Marshal(r.mock.GetWrittenMessages()[0]["request"].(object)["hooks"])
		same(t, "announced", string(hooks), `{"PreToolUse":[{"matcher":"Bash|Edit","hookCallbackIds":["hook_0","hook_1"],"timeout":1.5,"onFailure":"block"}],"Stop":[{"hookCallbackIds":["hook_2","hook_3"]}]}`)
		ask := func(id, callback, more string) string {
			return r.ask(id, fmt.Sprintf(`{"subtype":"hook_callback","callback_id":%q,"tool_use_id":"t","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"a":1}%s}}`, callback, more))
		}
		same(t, "deny", ask("a", "hook_0", ""), `{"subtype":"success","response":{"continue":false,"stopReason":"s","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}}`)
		if input.ToolName != "Bash" || string(input.ToolInput) != `{"a":1}` {
			t.Errorf("input: %+v", input)
		}
		same(t, "error", ask("b", "hook_1", ""), `{"subtype":"error","error":"bad"}`)
		same(t, "nothing", ask("c", "hook_2", ""), `{"subtype":"success","response":{}}`)
		same(t, "raw", ask("e", "hook_3", ""), `{"subtype":"success","response":{"new":1}}`)
		if got := ask("d", "hook_0", `,"prompt":"wait"`); got != "" {
			t.Errorf("it answers at once: %s", got)
		}
		time.Sleep(1500 * time.Millisecond) // of the bubble's clock: the matcher's timeout
		same(t, "timeout", r.response("d"), `{"subtype":"error","error":"context deadline exceeded"}`)
		if got := r.take(); len(got) > 0 {
			t.Errorf("hooks change the state: %q", got)
		}
	})
}
