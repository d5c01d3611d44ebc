package agentsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
	"github.com/lockstep-dev/lockstep/sdk/agent/agenttest"
)

func TestPauseHoldsCallsAndQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *agentsdk.AgentOptions) {
			o.CanUseTool = func(_ context.Context, tool string, _ map[string]any, _ agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
				r := agentsdk.Allow()
				return r, nil
			}
		})
		if err := r.s.Resume(); !errors.Is(err, agentsdk.ErrInvalidState) {
			t.Errorf("resume: %v", err)
		}
		if err := r.s.Pause(); err != nil {
			t.Fatal(err)
		}
		if err := r.s.Pause(); !errors.Is(err, agentsdk.ErrInvalidState) {
			t.Errorf("pause again: %v", err)
		}
		for _, id := range []string{"a", "b"} {
			if got := r.ask(id, call(1+len(id), "add", `{"a":1,"b":2}`)); got != "" {
				t.Errorf("it is paused: %s", got)
			}
		}
		r.ask("c", call(3, "add", `{"a":1,"b":2}`))
		r.send(`{"type":"control_cancel_request","request_id":"a"}`)
		if got := r.ask("p", `{"subtype":"can_use_tool","tool_name":"Bash","input":{}}`); got != "" {
			t.Errorf("it is paused: %s", got)
		}
		if got := r.ask("i", mcp(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)); got == "" {
			t.Error("a ping is not answered")
		}
		r.send(`{"type":"assistant","message":{"content":"hi"}}`)
		if diff := cmp.Diff([]string{"paused", "message assistant"}, r.take()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if err := r.s.Resume(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if r.response("a") != "" || r.response("b") == "" || r.response("p") == "" {
			t.Errorf("responses: %q, %q, %q", r.response("a"), r.response("b"), r.response("p"))
		}
	})
}

func TestAResultWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if err := r.s.Pause(); err != nil {
			t.Fatal(err)
		}
		r.ask("a", call(1, "add", `{"a":1,"b":2}`))
		r.send(`{"type":"result","subtype":"success","is_error":false}`)
		if diff := cmp.Diff([]string{"paused", "message result"}, r.take()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if err := r.s.Resume(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"running", "completed", "complete true"}, r.take()); diff != "" || r.response("a") != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestAResultDropsWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.ask("a", call(1, "wait", "{}"))
		r.send(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`)
		result, err := r.s.WaitForCompletion(t.Context())
		if err != nil || result.Success || result.Err != nil || !result.Result.Interrupted() || result.Stats.ToolCallCount != 1 {
			t.Errorf("%+v, %v", result, err)
		}
		got := r.take()
		if want := []string{"waiting_tool_call", "call wait 1", "message result", "running", "failed", "complete false"}; !slices.Equal(got[:min(6, len(got))], want) {
			t.Errorf("events: %q", got)
		}
	})
}

func TestTheHandshakeComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := agenttest.NewMockTransport(agenttest.MockTransportOptions{})
		r := &rig{t: t, mock: mock}
		agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{MCPServers: map[string]agentsdk.McpServerConfig{"calc": r.tools(t)}, NewTransport: mock.For})
		if err != nil {
			t.Fatal(err)
		}
		started := make(chan error)
		go func() {
			_, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "go"})
			started <- err
		}()
		synctest.Wait()
		if r.ask("early", mcp(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)) == "" {
			t.Error("a request of the CLI waits for the handshake")
		}
		written := mock.GetWrittenMessages()
		if len(written) != 2 || written[0]["request"].(object)["subtype"] != "initialize" {
			t.Fatalf("before the answer: %v", written)
		}
		success(mock, written[0], object{})
		check(t, "start", <-started)
		if written = mock.GetWrittenMessages(); len(written) != 3 || prompted(written[2]) != "go" {
			t.Errorf("after the answer: %v", written)
		}
		check(t, "close", agent.Close(t.Context()))
	})
}

func TestAProgramNeedNotReadMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRig(t, func(o *agentsdk.AgentOptions) { o.Events.OnMessage = func(agentsdk.Message) { <-gate } })
		for range 5000 {
			r.send(`{"type":"assistant","message":{"content":"hi"}}`)
		}
		if r.ask("c", call(1, "add", `{"a":1,"b":2}`)) == "" || r.s.GetState().Stats.MessageCount != 5000 {
			t.Errorf("a call waits for the messages: %+v", r.s.GetState())
		}
		close(gate)
		r.send(`{"type":"result","subtype":"success"}`)
		n := 0
		for range r.s.Messages() {
			n++
		}
		if n != 5001 {
			t.Errorf("%d messages, want 5001", n)
		}
	})
}

func TestTheAnnouncement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *agentsdk.AgentOptions) {
			slow, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "s", Version: "2", Timeout: 1500 * time.Millisecond, AlwaysLoad: true, Tools: []agentsdk.SdkTool{adder(nil)}})
			if err != nil {
				t.Fatal(err)
			}
			o.MCPServers["slow"] = slow
			o.DisableManifests = true
			o.SystemPrompt = &agentsdk.SystemPrompt{}
			o.Agents = map[string]agentsdk.AgentDefinition{"a": {Description: "d", Prompt: "p"}}
			o.JSONSchema = agentsdk.SimpleSchema()
			o.InitializeExtra = object{"title": "t"}
			o.OnElicitation = func(_ context.Context, e agentsdk.ElicitationRequest) (agentsdk.ElicitationResult, error) {
				return agentsdk.ElicitationResult{Action: e.Message, Content: object{"from": e.ServerName}}, nil
			}
		})
		first, _ := json.Marshal(r.mock.GetWrittenMessages()[0]["request"])
		same(t, "initialize", string(first), `{"subtype":"initialize","sdkMcpServers":["calc","slow"],"sdkMcpServerConfigs":{"slow":{"timeout":1500}},"systemPrompt":[""],
			"agents":{"a":{"description":"d","prompt":"p"}},"jsonSchema":{"type":"object","properties":{}},"title":"t"}`)
		list := r.ask("l", `{"subtype":"mcp_message","server_name":"slow","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}`)
		if !strings.Contains(list, `"_meta":{"anthropic/alwaysLoad":true}`) {
			t.Errorf("tools: %s", list)
		}
		same(t, "elicitation", r.ask("e", `{"subtype":"elicitation","mcp_server_name":"s","message":"accept"}`), `{"subtype":"success","response":{"action":"accept","content":{"from":"s"}}}`)
		same(t, "a wrong action", r.ask("f", `{"subtype":"elicitation","message":"maybe"}`), `{"subtype":"error","error":"elicitation: action \"maybe\", want accept, decline or cancel"}`)
	})
}

func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		lines := []string{
			`{"subtype":"init","session_id":"s","tools":["A"],"mcp_servers":[{"name":"n","status":"failed"}],"permissionMode":"plan","type":"system","uuid":"u"}`,
			`{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t","name":"N","input":{"a":1}}],"usage":{"n":1}},"parent_tool_use_id":"p","error":"overloaded","aborted":true}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"c","is_error":true}]},"isReplay":true,"isSynthetic":true,"tool_use_result":"Error: x"}`,
			`{"type":"user","message":{"content":"plain"}}`,
			`{"type":"stream_event","event":{"type":"message_start"},"parent_tool_use_id":null}`,
			`{"type":"brand_new","session_id":"s"}`,
			`{"type":"result","subtype":"error_max_turns","is_error":"?","terminal_reason":"max_turns","errors":7}`,
		}
		for _, line := range lines {
			r.send(line)
		}
		var got []string
		for m, err := range r.s.Messages() {
			if err != nil || string(m.Raw()) != lines[len(got)] {
				t.Errorf("%s, %v", m.Raw(), err)
			}
			switch m := m.(type) {
			case *agentsdk.SystemMessage:
				init, ok := m.Init()
				got = append(got, fmt.Sprintln(ok, m.SessionID(), m.UUID, init.Tools, init.MCPServers, init.PermissionMode))
			case *agentsdk.AssistantMessage:
				got = append(got, fmt.Sprintln(m.ID, m.Model, m.ParentToolUseID, m.Error, m.Aborted, string(m.Usage), m.Content[0].Text, m.Content[1].ID, m.Content[1].Name, string(m.Content[1].Input)))
			case *agentsdk.UserMessage:
				got = append(got, fmt.Sprintln(m.IsReplay, m.IsSynthetic, string(m.ToolUseResult), m.Content[0].Type, m.Content[0].Text, m.Content[0].ToolUseID, string(m.Content[0].Content), m.Content[0].IsError))
			case *agentsdk.StreamEvent:
				got = append(got, string(m.Event))
			case *agentsdk.RawMessage:
				got = append(got, m.Type()+m.SessionID())
			case *agentsdk.ResultMessage:
				got = append(got, fmt.Sprintln(m.Subtype, m.Success(), m.Interrupted(), m.TerminalReason))
			}
		}
		want := []string{
			"true s u [A] [{n failed }] plan", `m x p overloaded true {"n":1} hm t N {"a":1}`, `true true "Error: x" tool_result  t "c" true`,
			"false false  text plain   false", `{"type":"message_start"}`, "brand_news", "error_max_turns false false max_turns",
		}
		for i := range got {
			got[i] = strings.Join(strings.Fields(got[i]), " ")
			want[i] = strings.Join(strings.Fields(want[i]), " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if n := r.s.GetState().Stats.MessageCount; n != len(lines)-1 {
			t.Errorf("%d messages are counted, without the stream event %d", n, len(lines)-1)
		}
	})
}

func TestCancelInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		start := time.Now()
		if err := r.s.Cancel(t.Context()); err != nil { // the interrupt gets no answer
			t.Error(err)
		}
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("it waited %v for the interrupt", waited)
		}
		if diff := cmp.Diff([]string{"cancelled", "complete false"}, r.take()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		var subtypes []any
		for _, m := range r.mock.GetWrittenMessages() {
			if request, ok := m["request"].(object); ok {
				subtypes = append(subtypes, request["subtype"])
			}
		}
		if diff := cmp.Diff([]any{"initialize", "interrupt"}, subtypes); diff != "" || !r.mock.IsClosed() {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if err := r.s.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
