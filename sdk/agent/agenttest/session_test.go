package agenttest

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
)

type operands struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// calculator has the tools of the scenarios. divide fails in the given way.
func calculator(t *testing.T, divide func() (agentsdk.ToolResult, error)) *agentsdk.McpSdkServerConfig {
	t.Helper()
	number := func(n float64) (agentsdk.ToolResult, error) { return agentsdk.TextResult(fmt.Sprint(n)), nil }
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calculator", Tools: []agentsdk.SdkTool{
		agentsdk.MustTool("add", "Adds", func(_ context.Context, in operands, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return number(in.A + in.B)
		}),
		agentsdk.MustTool("subtract", "Subtracts", func(_ context.Context, in operands, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return number(in.A - in.B)
		}),
		agentsdk.MustTool("divide", "Divides", func(context.Context, operands, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return divide()
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// played is what a session of a scenario has shown.
type played struct {
	session *MockClaudeSession
	agent   *agentsdk.AgentSession
	result  agentsdk.SessionResult
	events  []string
	texts   []string
}

// play runs a scenario with a session of the SDK. drive does what the test expects meanwhile.
func play(t *testing.T, s SessionScenario, divide func() (agentsdk.ToolResult, error), drive func(*MockClaudeSession)) *played {
	t.Helper()
	p := &played{}
	mock := NewMockTransport(MockTransportOptions{})
	var err error
	if p.session, err = NewMockClaudeSession(mock, s); err != nil {
		t.Fatal(err)
	}
	defer p.session.Close()
	if drive == nil {
		p.session.Play("Calculate")
	} else {
		p.session.Start("Calculate")
	}
	note := func(format string, args ...any) { p.events = append(p.events, fmt.Sprintf(format, args...)) }
	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{
		MCPServers:   map[string]agentsdk.McpServerConfig{"calc": calculator(t, divide)},
		NewTransport: mock.For,
		Events: agentsdk.Events{
			OnStateChange: func(c agentsdk.StateChange) {
				pending := ""
				if call := c.Info.PendingToolCall; call != nil {
					pending = " " + call.ServerName + "." + call.ToolName
				}
				note("%s%s", c.To, pending)
			},
			OnToolCall:   func(c agentsdk.ToolCallInfo) { note("call %s %s", c.ToolUseID, c.Arguments) },
			OnToolResult: func(r agentsdk.ToolResultInfo) { note("result %s %v %v", r.ToolUseID, r.IsError, r.Err != nil) },
			OnComplete:   func(r agentsdk.SessionResult) { note("complete %v", r.Success) },
			OnError:      func(err error) { note("error %v", err) },
			OnWarning:    func(text string) { note("warning %s", text) },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.agent, err = agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "Calculate"}); err != nil {
		t.Fatal(err)
	}
	if drive != nil {
		drive(p.session)
	}
	for m, err := range p.agent.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		p.texts = append(p.texts, m.Type())
	}
	if p.result, err = p.agent.WaitForCompletion(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.session.ExpectCompletion(t.Context()); err != nil {
		t.Error(err)
	}
	if err := agent.Close(t.Context()); err != nil {
		t.Error(err)
	}
	synctest.Wait()
	return p
}

func TestCalculatorScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, CalculatorScenario(), nil, nil)
		want := []string{
			"starting", "running", "waiting_tool_call calc.add", `call tool_use_1 {"a":15,"b":27}`, "result tool_use_1 false false", "running",
			"completed", "complete true",
		}
		if diff := cmp.Diff(want, p.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"system", "assistant", "assistant", "user", "assistant", "result"}, p.texts); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		results := p.session.ToolResultHistory()
		if len(results) != 1 || results[0].Result.Content[0].Text != "42" || results[0].ToolUseID != "tool_use_1" {
			t.Errorf("results: %+v", results)
		}
		if r := p.result; !r.Success || r.Result.TotalCostUSD != 0.001 || r.Stats.ToolCallCount != 1 || r.Stats.MessageCount != 6 || r.Stats.StartedAt == nil || r.Stats.CompletedAt == nil {
			t.Errorf("result: %+v", r)
		}
		if p.agent.SessionID() != sessionID {
			t.Errorf("session id %q", p.agent.SessionID())
		}
	})
}

func TestAFailedToolLeavesTheSessionRunning(t *testing.T) {
	for name, divide := range map[string]func() (agentsdk.ToolResult, error){
		"isError": func() (agentsdk.ToolResult, error) { return agentsdk.ErrorResult("division by zero"), nil },
		"error":   func() (agentsdk.ToolResult, error) { return agentsdk.ToolResult{}, errors.New("division by zero") },
		"panic":   func() (agentsdk.ToolResult, error) { panic("division by zero") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, ToolErrorScenario(), divide, nil)
				results := p.session.ToolResultHistory()
				if len(results) != 1 || !results[0].IsError || results[0].Result.Content[0].Text != "division by zero" {
					t.Errorf("results: %+v", results)
				}
				if !p.result.Success || p.agent.GetState().State != agentsdk.StateCompleted {
					t.Errorf("result: %+v", p.result)
				}
				if want := fmt.Sprintf("result tool_use_1 true %v", name != "isError"); !slices.Contains(p.events, want) {
					t.Errorf("no event %q in %q", want, p.events)
				}
			})
		})
	}
}

func TestMultiToolScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, MultiToolScenario(), nil, nil)
		var got []string
		for i, call := range p.agent.ToolCallHistory() {
			got = append(got, call.ToolName+" "+string(call.Arguments)+" "+p.session.ToolResultHistory()[i].Result.Content[0].Text)
		}
		if diff := cmp.Diff([]string{`add {"a":100,"b":50} 150`, `subtract {"a":150,"b":25} 125`}, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if p.result.Stats.ToolCallCount != 2 || len(p.session.ToolCallHistory()) != 2 {
			t.Errorf("result: %+v", p.result)
		}
	})
}

func TestATestLeadsAScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, MultiToolScenario(), nil, func(s *MockClaudeSession) {
			if err := s.RespondWithToolResult(agentsdk.TextResult("too early")); err == nil {
				t.Error("a result without a call is accepted")
			}
			s.ExpectToolCall("add", map[string]any{"a": 100})
			synctest.Wait()
			if got := s.ToolCallHistory(); len(got) != 1 || len(s.ToolResultHistory()) != 0 {
				t.Errorf("one step was allowed: %+v", got)
			}
			if err := s.RespondWithToolResult(agentsdk.TextResult("151")); err != nil {
				t.Error(err)
			}
			s.ExpectToolCall("subtract", nil)
			stats, err := s.ExpectCompletion(t.Context())
			if err != nil || stats != (ResultStats{Cost: 0.002, Tokens: 200}) {
				t.Errorf("%+v, %v", stats, err)
			}
		})
		var texts []string
		for _, r := range p.session.ToolResultHistory() {
			texts = append(texts, r.Result.Content[0].Text)
		}
		if diff := cmp.Diff([]string{"151", "125"}, texts); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestWrongExpectationsNameTheStep(t *testing.T) {
	for want, drive := range map[string]func(*MockClaudeSession){
		`scenario "several tools", step 0: want a call of "subtract"`:      func(s *MockClaudeSession) { s.ExpectToolCall("subtract", nil) },
		`scenario "several tools", step 0: argument "a" is 100, want 1`:    func(s *MockClaudeSession) { s.ExpectToolCall("add", map[string]any{"a": 1}) },
		`scenario "several tools", step 2: want the result, but agenttest`: func(s *MockClaudeSession) { s.ExpectToolCall("add", nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := NewMockClaudeSession(NewMockTransport(MockTransportOptions{}), MultiToolScenario())
			if err != nil {
				t.Fatal(err)
			}
			s.Start("")
			drive(s)
			if _, err := s.ExpectCompletion(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s…", err, want)
			}
		})
	}
}

func TestScenariosAreChecked(t *testing.T) {
	call := ToolUse{Name: "add", Args: map[string]any{}}
	for want, steps := range map[string][]ScenarioStep{
		"step 0: there is no result":                                nil,
		"step 0: the last step is not a result":                     {Assistant{"hi"}},
		"step 0: result is not the last step":                       {Result{}, Result{}},
		"step 1: tool_use and expect_result must follow each other": {call, Result{}},
		"step 0: tool_use and expect_result must follow":            {ExpectResult{}, Result{}},
		"step 0: the tool has no name":                              {ToolUse{Args: map[string]any{}}, ExpectResult{}, Result{}},
		"step 0: the args are not an object":                        {ToolUse{Name: "add"}, ExpectResult{}, Result{}},
	} {
		if _, err := NewMockClaudeSession(NewMockTransport(MockTransportOptions{}), SessionScenario{Name: "x", Steps: steps}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMockTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := NewMockTransport(MockTransportOptions{MessageDelay: time.Second, SimulatedResponses: []any{map[string]any{"type": "first"}}})
		for _, err := range mock.ReadMessages() {
			if !errors.Is(err, ErrNotConnected) {
				t.Errorf("read: %v", err)
			}
		}
		if err := mock.Write(t.Context(), []byte("{}")); !errors.Is(err, ErrNotConnected) {
			t.Errorf("write: %v", err)
		}
		if err := mock.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := mock.Connect(t.Context()); !errors.Is(err, ErrConnected) {
			t.Errorf("connect: %v", err)
		}
		if err := mock.Write(t.Context(), []byte("{")); err == nil {
			t.Error("a line that is not JSON is accepted")
		}
		if err := mock.Write(t.Context(), []byte(`{"type":"user"}`)); err != nil || len(mock.GetWrittenMessages()) != 1 {
			t.Errorf("write: %v", err)
		}
		id, err := mock.SimulateToolCall("add", map[string]any{"a": 1})
		if err != nil || mock.QueueSize() != 2 {
			t.Errorf("%d messages, %v", mock.QueueSize(), err)
		}
		other, _ := mock.SimulateToolCall("add", nil, "calc")
		if other == id || mock.EndInput() != nil {
			t.Errorf("ids %s and %s", id, other)
		}
		var got []string
		start := time.Now()
		for line, err := range mock.ReadMessages() {
			var m struct {
				Type    string
				Request struct {
					Server string `json:"server_name"`
				}
			}
			if err != nil || json.Unmarshal(line, &m) != nil {
				t.Fatalf("%s, %v", line, err)
			}
			got = append(got, m.Type+m.Request.Server)
		}
		if diff := cmp.Diff([]string{"first", "control_requestsdk-tools", "control_requestcalc"}, got); diff != "" || time.Since(start) != 3*time.Second {
			t.Errorf("after %v (-want +got):\n%s", time.Since(start), diff)
		}
		_, _ = mock.Close(t.Context()), mock.Close(t.Context())
		if mock.IsConnected() || !mock.IsClosed() || !errors.Is(mock.SimulateMessage("x"), ErrClosed) || !errors.Is(mock.Connect(t.Context()), ErrClosed) {
			t.Error("it is closed")
		}
	})
}
