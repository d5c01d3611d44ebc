package agentsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
	"github.com/lockstep-dev/lockstep/sdk/agent/agenttest"
)

// A chat is the CLI of a client: each process is a mock transport that answers prompts.
type chat struct {
	mu     sync.Mutex
	mocks  []*agenttest.MockTransport
	args   [][]string
	manual bool // turns wait for answer
	states []string
	errs   []error
}

func (c *chat) transport(o agentsdk.TransportOptions) agentsdk.Transport {
	var mock *agenttest.MockTransport
	mock = agenttest.NewMockTransport(agenttest.MockTransportOptions{AutoInitialize: true, OnWrite: func(line map[string]any) {
		switch request, _ := line["request"].(object); {
		case line["type"] == "user" && !c.manual:
			c.answer(mock, prompted(line))
		case request["subtype"] == "interrupt":
			success(mock, line, object{"still_queued": []string{"u"}})
			send(mock, object{"type": "result", "subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"})
		case request["subtype"] == "set_permission_mode" && request["mode"] == "bad":
			send(mock, object{"type": "control_response", "response": object{"subtype": "error", "request_id": line["request_id"], "error": "no such mode", "error_code": "invalid_mode"}})
		case request["subtype"] == "set_model":
			success(mock, line, object{"model": fmt.Sprint("resolved ", request["model"])})
		case request["subtype"] == "mcp_status":
			success(mock, line, object{"mcpServers": []any{object{"name": "calc", "status": "connected"}}})
		case request["subtype"] == "mcp_set_servers":
			success(mock, line, object{"added": []string{"more"}, "removed": []string{}, "errors": object{}})
		case request != nil && request["subtype"] != "initialize" && request["subtype"] != "never":
			success(mock, line, nil)
		}
	}})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mocks, c.args = append(c.mocks, mock), append(c.args, o.Args)
	return mock
}

func send(mock *agenttest.MockTransport, message any) { _ = mock.SimulateMessage(message) }

func success(mock *agenttest.MockTransport, request object, payload any) {
	body := object{"subtype": "success", "request_id": request["request_id"]}
	if payload != nil {
		body["response"] = payload
	}
	send(mock, object{"type": "control_response", "response": body})
}

func prompted(m object) string {
	return m["message"].(object)["content"].([]any)[0].(object)["text"].(string)
}

func (c *chat) answer(mock *agenttest.MockTransport, text string) {
	send(mock, object{"type": "system", "subtype": "init", "session_id": fmt.Sprintf("s-%d", len(c.mocks))})
	send(mock, object{"type": "assistant", "message": object{"content": "to " + text}})
	send(mock, object{"type": "result", "subtype": "success", "result": text})
}

// prompts returns what a process has got.
func (c *chat) prompts(process int) (all []string) {
	synctest.Wait()
	for _, m := range c.mocks[process].GetWrittenMessages() {
		if m["type"] == "user" {
			all = append(all, prompted(m))
		}
	}
	return all
}

func (c *chat) client(t *testing.T, o agentsdk.ClientOptions) *agentsdk.ClaudeCodeClient {
	t.Helper()
	o.NewTransport = c.transport
	o.Events.OnStateChange = func(change agentsdk.StateChange) { c.states = append(c.states, string(change.To)) }
	o.Events.OnError = func(err error) { c.errs = append(c.errs, err) }
	client, err := agentsdk.NewClaudeCodeClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// turn receives one response, as the types of its messages.
func turn(t *testing.T, client *agentsdk.ClaudeCodeClient) string {
	t.Helper()
	var types []string
	for m, err := range client.ReceiveResponse(t.Context()) {
		if err != nil {
			return strings.Join(append(types, "error"), " ")
		}
		switch m := m.(type) {
		case *agentsdk.ResultMessage:
			types = append(types, "result:"+m.Result)
		default:
			types = append(types, m.Type())
		}
	}
	return strings.Join(types, " ")
}

func check(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestAConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{}
		client := c.client(t, agentsdk.ClientOptions{})
		if err := client.Query(t.Context(), "x"); !errors.Is(err, agentsdk.ErrInvalidState) || client.GetState() != nil {
			t.Errorf("before Connect: %v", err)
		}
		check(t, "connect", client.Connect(t.Context()))
		if err := client.Connect(t.Context()); !errors.Is(err, agentsdk.ErrInvalidState) || !client.IsConnected() {
			t.Errorf("a second connect: %v", err)
		}
		for _, prompt := range []string{"one", "two"} {
			check(t, prompt, client.Query(t.Context(), prompt))
			if got := turn(t, client); got != "system assistant result:"+prompt {
				t.Errorf("%s: %s", prompt, got)
			}
		}
		send(c.mocks[0], object{"type": "prompt_suggestion"}) // between turns
		check(t, "three", client.Query(t.Context(), "three"))
		if got := turn(t, client); got != "prompt_suggestion system assistant result:three" {
			t.Errorf("three: %s", got)
		}
		check(t, "disconnect", client.Disconnect(t.Context()))
		check(t, "disconnect again", client.Disconnect(t.Context()))
		query, steer, mode := client.Query(t.Context(), "x"), client.Steer(t.Context(), "x"), client.SetPermissionMode(t.Context(), "plan")
		if !errors.Is(query, agentsdk.ErrInvalidState) || !errors.Is(steer, agentsdk.ErrInvalidState) || !errors.Is(mode, agentsdk.ErrCLIConnection) || client.IsConnected() {
			t.Errorf("after Disconnect: %v, %v, %v", query, steer, mode)
		}
		synctest.Wait()
		want := strings.Fields("starting idle running idle running idle running idle completed")
		if diff := cmp.Diff(want, c.states); diff != "" || len(c.mocks) != 1 {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		check(t, "connect to another session", client.Connect(t.Context(), "four", "five"))
		if a, b := turn(t, client), turn(t, client); a != "system assistant result:four" || b != "system assistant result:five" {
			t.Errorf("%s, %s", a, b)
		}
	})
}

func TestAQueryWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{manual: true}
		client := c.client(t, agentsdk.ClientOptions{})
		check(t, "connect", client.Connect(t.Context(), "one"))
		check(t, "two", client.Query(t.Context(), "two"))
		check(t, "three", client.Query(t.Context(), "three"))
		check(t, "steer", client.Steer(t.Context(), "left"))
		if got := c.prompts(0); !slices.Equal(got, []string{"one", "left"}) {
			t.Errorf("prompts: %q", got)
		}
		_, err := client.Interrupt(t.Context()) // its result ends the first turn
		check(t, "interrupt", err)
		if got := turn(t, client); got != "result:" {
			t.Errorf("interrupted: %s", got)
		}
		if got := c.prompts(0); !slices.Equal(got, []string{"one", "left", "two"}) || client.GetState().State != agentsdk.StateRunning {
			t.Errorf("prompts: %q", got)
		}
		c.answer(c.mocks[0], "two")
		if got := turn(t, client); got != "system assistant result:two" {
			t.Errorf("two: %s", got)
		}
		if got := c.prompts(0); !slices.Equal(got, []string{"one", "left", "two", "three"}) {
			t.Errorf("prompts: %q", got)
		}
		check(t, "disconnect", client.Disconnect(t.Context()))
		synctest.Wait()
		if diff := cmp.Diff(strings.Fields("starting running idle running idle running cancelled"), c.states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

func TestATurnThatTheCLIBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{}
		client := c.client(t, agentsdk.ClientOptions{})
		check(t, "connect", client.Connect(t.Context()))
		send(c.mocks[0], object{"type": "system", "subtype": "init", "session_id": "s"})
		synctest.Wait()
		if client.GetState().State != agentsdk.StateRunning {
			t.Errorf("state %s", client.GetState().State)
		}
		check(t, "query", client.Query(t.Context(), "later"))
		if got := c.prompts(0); len(got) > 0 {
			t.Errorf("prompts: %q", got)
		}
		send(c.mocks[0], object{"type": "result", "subtype": "success", "result": "own"})
		if a, b := turn(t, client), turn(t, client); a != "system result:own" || b != "system assistant result:later" {
			t.Errorf("%s, %s", a, b)
		}
	})
}

func TestControlRequestsOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{}
		client := c.client(t, agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{RequestIDFunc: func() func() string {
			n := 0
			return func() string { n++; return fmt.Sprint("id", n) }
		}()}})
		check(t, "connect", client.Connect(t.Context()))
		check(t, "mode", client.SetPermissionMode(t.Context(), "plan"))
		err := client.SetPermissionMode(t.Context(), "bad")
		if failed := (*agentsdk.ControlProtocolError)(nil); !errors.As(err, &failed) || failed.ErrorCode != "invalid_mode" || failed.Message != "no such mode" || failed.Subtype != "set_permission_mode" || failed.RequestID != "id3" {
			t.Errorf("a bad mode: %+v", err)
		}
		if model, err := client.SetModel(t.Context(), "m"); err != nil || model != "resolved m" {
			t.Errorf("%q, %v", model, err)
		}
		if servers, err := client.MCPStatus(t.Context()); err != nil || len(servers) != 1 || servers[0].Status != "connected" {
			t.Errorf("%+v, %v", servers, err)
		}
		if payload, err := client.SendRequest(t.Context(), "stop_task", object{"x": 1}); err != nil || string(payload) != "{}" {
			t.Errorf("%s, %v", payload, err)
		}
		check(t, "notify", client.NotifyToolsChanged(t.Context(), "calc"))
		server, _ := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "m"})
		change, err := client.SetMCPServers(t.Context(), map[string]agentsdk.McpServerConfig{"more": server, "web": agentsdk.McpHttpServerConfig{URL: "u"}})
		if err != nil || !slices.Equal(change.Added, []string{"more"}) {
			t.Errorf("%+v, %v", change, err)
		}
		written := c.mocks[0].GetWrittenMessages()
		text, _ := json.Marshal(written[len(written)-1]["request"])
		same(t, "servers", string(text), `{"subtype":"mcp_set_servers","servers":{"more":{"type":"sdk","name":"more"},"web":{"type":"http","url":"u"}}}`)
		_, err = client.SendRequest(t.Context(), "never", nil)
		if late := (*agentsdk.TimeoutError)(nil); !errors.As(err, &late) || late.Operation != "never" || late.Timeout.Seconds() != 30 {
			t.Errorf("timeout: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if _, err = client.SendRequest(ctx, "never", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		synctest.Wait()
		written = c.mocks[0].GetWrittenMessages()
		if last := written[len(written)-1]; last["type"] != "control_cancel_request" || last["request_id"] != "id10" {
			t.Errorf("withdrawn: %v", last)
		}
		pending := make(chan error)
		go func() { _, err := client.SendRequest(context.Background(), "never", nil); pending <- err }()
		synctest.Wait()
		_ = client.Disconnect(t.Context())
		if err := <-pending; !errors.Is(err, agentsdk.ErrCLIConnection) {
			t.Errorf("at Disconnect: %v", err)
		}
	})
}

func TestKeepAliveIsFalse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{}
		o := agentsdk.ClientOptions{KeepAlive: new(false)}
		o.SessionID = "2b0e8a52-0f0e-4a8e-9b2b-3f8f5a6f9d01"
		client := c.client(t, o)
		check(t, "connect", client.Connect(t.Context(), "one"))
		if got := turn(t, client); got != "system assistant result:one" {
			t.Errorf("one: %s", got)
		}
		synctest.Wait()
		if client.IsConnected() || client.GetState().State != agentsdk.StateCompleted {
			t.Errorf("after the turn: %+v", client.GetState())
		}
		check(t, "two", client.Query(t.Context(), "two"))
		check(t, "three", client.Query(t.Context(), "three")) // it may wait for the turn, or for its end
		if a, b := turn(t, client), turn(t, client); a != "system assistant result:two" || b != "system assistant result:three" {
			t.Errorf("%s, %s", a, b)
		}
		synctest.Wait()
		want := [][]string{{"--session-id=" + o.SessionID}, {"--resume=s-1"}, {"--resume=s-2"}}
		if diff := cmp.Diff(want, c.args); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
	})
}

// A CLI need not wait for the end of its input. On one processor, the reader sees its end before anybody closes it.
func TestWithoutKeepAliveACLIMayEndAfterItsResult(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		c := &chat{manual: true}
		client := c.client(t, agentsdk.ClientOptions{KeepAlive: new(false)})
		check(t, "connect", client.Connect(t.Context(), "one"))
		check(t, "two", client.Query(t.Context(), "two"))
		c.answer(c.mocks[0], "one")
		_ = c.mocks[0].EndInput()
		if got := turn(t, client); got != "system assistant result:one" {
			t.Errorf("one: %s", got)
		}
		synctest.Wait()
		if len(c.mocks) != 2 || !slices.Equal(c.prompts(1), []string{"two"}) || len(c.errs) > 0 {
			t.Fatalf("%d processes, errors %v", len(c.mocks), c.errs)
		}
		c.answer(c.mocks[1], "two")
		if got := turn(t, client); got != "system assistant result:two" {
			t.Errorf("two: %s", got)
		}
	})
}

func TestReconnectOnError(t *testing.T) {
	for _, reconnect := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &chat{}
			client := c.client(t, agentsdk.ClientOptions{ReconnectOnError: reconnect})
			check(t, "connect", client.Connect(t.Context(), "one"))
			turn(t, client)
			_ = c.mocks[0].EndInput() // the process ends
			synctest.Wait()
			if client.IsConnected() || client.GetState().State != agentsdk.StateFailed || len(c.errs) != 1 || !errors.Is(c.errs[0], agentsdk.ErrCLIConnection) {
				t.Errorf("%+v, %v", client.GetState(), c.errs)
			}
			if got := turn(t, client); got != "error" {
				t.Errorf("receive: %s", got)
			}
			err := client.Query(t.Context(), "two")
			if !reconnect {
				if !errors.Is(err, agentsdk.ErrCLIConnection) || turn(t, client) != "" {
					t.Errorf("query: %v", err)
				}
				return
			}
			check(t, "query", err)
			if got := turn(t, client); got != "system assistant result:two" || !slices.Equal(c.prompts(1), []string{"two"}) || c.args[1][0] != "--resume=s-1" {
				t.Errorf("%s, %q, %q", got, c.prompts(1), c.args)
			}
			c.manual = true
			check(t, "lost", client.Query(t.Context(), "lost"))
			check(t, "held", client.Query(t.Context(), "held"))
			_ = c.mocks[1].EndInput()
			if got := turn(t, client); got != "error" {
				t.Errorf("lost: %s", got)
			}
			synctest.Wait()
			c.manual = false
			check(t, "last", client.Query(t.Context(), "last"))
			if got := turn(t, client); got != "system assistant result:last" || !slices.Equal(c.prompts(2), []string{"last"}) {
				t.Errorf("%s, %q", got, c.prompts(2))
			}
		})
	}
}

func TestAPromptRightAfterTheEndOfALostProcessIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{manual: true}
		client := c.client(t, agentsdk.ClientOptions{ReconnectOnError: true})
		check(t, "connect", client.Connect(t.Context(), "lost"))
		check(t, "held", client.Query(t.Context(), "held"))
		agentsdk.BeforeEnd(client, func() { check(t, "next", client.Query(t.Context(), "next")) })
		_ = c.mocks[0].EndInput()
		if got := turn(t, client); got != "error" {
			t.Errorf("lost: %s", got)
		}
		synctest.Wait()
		if len(c.mocks) != 2 || !slices.Equal(c.prompts(1), []string{"next"}) {
			t.Fatalf("%d processes", len(c.mocks))
		}
		c.answer(c.mocks[1], "next")
		if got := turn(t, client); got != "system assistant result:next" {
			t.Errorf("next: %s", got)
		}
	})
}

func TestReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{}
		client := c.client(t, agentsdk.ClientOptions{})
		if got := turn(t, client); got != "error" {
			t.Errorf("before Connect: %s", got)
		}
		check(t, "connect", client.Connect(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		var types []string
		ended := make(chan error)
		go func() {
			var last error
			for m, err := range client.ReceiveMessages(ctx) {
				if last = err; err == nil {
					types = append(types, m.Type())
				}
			}
			ended <- last
		}()
		synctest.Wait()
		if got := turn(t, client); got != "error" {
			t.Errorf("a second receiver: %s", got)
		}
		check(t, "one", client.Query(t.Context(), "one"))
		check(t, "two", client.Query(t.Context(), "two"))
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || strings.Join(types, " ") != "system assistant result system assistant result" {
			t.Errorf("%v, %q", err, types)
		}
		go func() {
			for range client.ReceiveMessages(t.Context()) {
			}
			ended <- nil
		}()
		synctest.Wait()
		_ = client.Disconnect(t.Context())
		<-ended
	})
}

func TestAFailedConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mock *agenttest.MockTransport
		o := agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{NewTransport: func(agentsdk.TransportOptions) agentsdk.Transport {
			mock = agenttest.NewMockTransport(agenttest.MockTransportOptions{})
			return mock
		}}}
		client, err := agentsdk.NewClaudeCodeClient(o)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Connect(t.Context())
		if late := (*agentsdk.TimeoutError)(nil); !errors.As(err, &late) || late.Timeout.Seconds() != 60 || late.Operation != "initialize" || !mock.IsClosed() || client.IsConnected() {
			t.Errorf("no answer: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := client.Connect(ctx); !errors.Is(err, context.Canceled) || client.GetState().State != agentsdk.StateCancelled {
			t.Errorf("cancelled: %v, %+v", err, client.GetState())
		}
		if err := client.Query(t.Context(), "x"); !errors.Is(err, agentsdk.ErrInvalidState) {
			t.Errorf("query: %v", err)
		}
	})
}

func TestServersByInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chat{}
		o := agentsdk.ClientOptions{}
		o.MCPServersDelivery = "initialize"
		o.MCPServers = map[string]agentsdk.McpServerConfig{"web": agentsdk.McpHttpServerConfig{URL: "u"}}
		o.SystemPrompt = &agentsdk.SystemPrompt{Preset: "claude_code", Append: "Be brief."}
		client := c.client(t, o)
		if err := client.Connect(t.Context()); !errors.Is(err, agentsdk.ErrControlProtocol) { // the mock is too old
			t.Errorf("connect: %v", err)
		}
		first, _ := json.Marshal(c.mocks[0].GetWrittenMessages()[0]["request"])
		same(t, "initialize", string(first), `{"subtype":"initialize","appendSystemPrompt":"Be brief.","mcpServers":{"web":{"type":"http","url":"u"}}}`)
		if !slices.Equal(c.args[0], []string{"--await-initialize"}) {
			t.Errorf("arguments: %q", c.args[0])
		}
	})
}
