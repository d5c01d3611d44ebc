//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// options start this test binary as the CLI.
func options(t *testing.T, script string) agentsdk.AgentOptions {
	t.Helper()
	return agentsdk.AgentOptions{CLIPath: os.Args[0], Env: map[string]string{asCLI: "1", "AGENTCLI_SCRIPT": write(t, script)}}
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

type operands struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func calculator(t *testing.T) map[string]agentsdk.McpServerConfig {
	t.Helper()
	add := agentsdk.MustTool("add", "Add two numbers", func(_ context.Context, in operands, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil
	})
	wait := agentsdk.MustTool("wait", "Wait", func(ctx context.Context, _ struct{}, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		<-ctx.Done()
		return agentsdk.ToolResult{}, ctx.Err()
	})
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calculator", Tools: []agentsdk.SdkTool{add, wait}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]agentsdk.McpServerConfig{"calc": server}
}

// said returns the texts of the model and the result.
func said(t *testing.T, messages func(func(agentsdk.Message, error) bool)) (texts []string, result *agentsdk.ResultMessage) {
	t.Helper()
	for m, err := range messages {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *agentsdk.AssistantMessage:
			for _, b := range m.Content {
				texts = append(texts, b.Text+b.Name)
			}
		case *agentsdk.ResultMessage:
			result = m
		}
	}
	return texts, result
}

// TestTheSDKRunsOnePrompt does the handshake with manifests and without.
func TestTheSDKRunsOnePrompt(t *testing.T) {
	for _, whole := range []bool{false, true} {
		o := options(t, "args: [--model=opus, stream-json]\nturns: [{prompt: Add, steps: [{call: add, input: {a: 15, b: 27}}, {text: 'The sum is {result}.'}, {result: success, cost: 0.25}]}]")
		o.MCPServers, o.Model, o.DisableManifests = calculator(t), "opus", whole
		agent, err := agentsdk.NewClaudeCodeAgent(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := agent.StartSession(limited(t), agentsdk.SessionConfig{Prompt: "Add 15 and 27"})
		if err != nil {
			t.Fatal(err)
		}
		texts, result := said(t, s.Messages())
		if !slices.Equal(texts, []string{"mcp__calc__add", "The sum is 42."}) || !result.Success() || result.TotalCostUSD != 0.25 || len(s.ToolCallHistory()) != 1 {
			t.Errorf("%q, %+v, %v", texts, result, s.ToolCallHistory())
		}
	}
}

// TestTheSDKHasAConversation interrupts the second of three turns, and changes the model before the third.
func TestTheSDKHasAConversation(t *testing.T) {
	o := options(t, `
turns:
- steps: [{ask: Bash, input: {command: rm}}, {text: one}]
- steps: [{call: wait}, {text: never}]
- steps: [{hook: Stop, input: {last_assistant_message: three}}, {text: three}]
`)
	o.MCPServers = calculator(t)
	asked, stops := "", 0
	o.CanUseTool = func(_ context.Context, tool string, input map[string]any, _ agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
		asked = fmt.Sprint(tool, " ", input["command"])
		return agentsdk.Deny("no"), nil
	}
	o.Hooks = map[string][]agentsdk.HookMatcher{"Stop": {{Hooks: []agentsdk.HookCallback{
		func(context.Context, agentsdk.HookInput, string) (agentsdk.HookOutput, error) {
			stops++
			return agentsdk.HookOutput{}, nil
		},
	}}}}
	calls := make(chan struct{}, 1)
	o.Events.OnToolCall = func(agentsdk.ToolCallInfo) { calls <- struct{}{} }
	client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: o})
	if err != nil {
		t.Fatal(err)
	}
	ctx := limited(t)
	if err := client.Connect(ctx, "first", "second"); err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(ctx)
	if texts, result := said(t, client.ReceiveResponse(ctx)); texts[1] != "one" || asked != "Bash rm" || len(result.PermissionDenials) != 1 {
		t.Errorf("%q, %q, %+v", texts, asked, result)
	}
	<-calls
	if _, err := client.Interrupt(ctx); err != nil {
		t.Fatal(err)
	}
	if texts, result := said(t, client.ReceiveResponse(ctx)); len(texts) != 1 || !result.Interrupted() {
		t.Errorf("%q, %+v", texts, result)
	}
	model, err := client.SetModel(ctx, "other")
	if err := errors.Join(err, client.Query(ctx, "third")); err != nil || model != "other" {
		t.Fatal(model, err)
	}
	if texts, result := said(t, client.ReceiveResponse(ctx)); !slices.Equal(texts, []string{"three"}) || !result.Success() || stops != 1 {
		t.Errorf("%q, %+v, %d stops", texts, result, stops)
	}
}

// TestTheSDKSeesTheEnd has the ends of a process.
func TestTheSDKSeesTheEnd(t *testing.T) {
	for step, want := range map[string]agentsdk.CLIConnectionError{
		"{stderr: bad day}, {exit: 3}": {ExitCode: 3, Stderr: "bad day\n"},
		"{crash: true}":                {ExitCode: -1, Signal: "killed"},
		"{call: none}":                 {ExitCode: 1, Stderr: "announced 0 servers"},
	} {
		agent, err := agentsdk.NewClaudeCodeAgent(options(t, "turns: [{steps: ["+step+"]}]"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := agent.StartSession(limited(t), agentsdk.SessionConfig{Prompt: "Go"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.WaitForCompletion(limited(t))
		got, ok := errors.AsType[*agentsdk.CLIConnectionError](r.Err)
		if err != nil || !ok || got.ExitCode != want.ExitCode || got.Signal != want.Signal || !strings.Contains(got.Stderr, want.Stderr) {
			t.Errorf("%s: %v, %v", step, err, r.Err)
		}
	}
}
