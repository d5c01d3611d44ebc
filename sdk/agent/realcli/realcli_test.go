//go:build unix

// Package realcli tests the agent SDK with the published CLI, where that is installed: make test-real-cli.
package realcli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// realCLI is the variable with the path of lockstep, whose stub is the model of a real CLI.
const realCLI = "AGENTSDK_REAL_CLI"

// TestRealCLI runs the published CLI, the claude in PATH, with a scripted model.
func TestRealCLI(t *testing.T) {
	lockstep := os.Getenv(realCLI)
	if lockstep == "" {
		t.Skipf("%s is not set: make test-real-cli runs this test", realCLI)
	}
	path, err := exec.LookPath("claude")
	if err != nil {
		t.Fatal("claude is not on the PATH: install it with npm install -g @anthropic-ai/claude-code, or put its folder there")
	}
	version, err := exec.CommandContext(t.Context(), path, "--version").Output()
	t.Logf("%s: %s, %v", path, strings.TrimSpace(string(version)), err)
	for _, story := range []struct {
		name string
		run  func(t *testing.T, r *realSession)
	}{
		{"calculator", realCalculator}, {"permission to run", realAllowed}, {"no permission", realDenied}, {"hook", realHook},
		{"interrupt", realInterrupt}, {"resume", realResume}, {"resume of nothing", realResumeOfNothing},
	} {
		t.Run(story.name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
			defer stop()
			story.run(t, &realSession{ctx: ctx, lockstep: lockstep, home: t.TempDir(), directory: t.TempDir(), path: path})
		})
	}
}

// A realSession is what a story needs: a model, and options for a CLI that knows nothing of its user.
type realSession struct {
	ctx                             context.Context
	lockstep, path, home, directory string
}

// options starts a model that answers by these rules, and returns the options of a CLI that uses it.
func (r *realSession) options(t *testing.T, rules string) agentsdk.AgentOptions {
	t.Helper()
	script := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(script, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	stub := exec.Command(r.lockstep, "stub", "anthropic", "--script", script)
	stub.Stderr = t.Output()
	said, err := stub.StdoutPipe()
	if err == nil {
		err = stub.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stub.Process.Signal(os.Interrupt)
		_ = stub.Wait()
	})
	line, err := bufio.NewReader(said).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("the model does not tell its address: %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // until the stub ends
	return agentsdk.AgentOptions{
		CLIPath: r.path, Cwd: r.directory, PermissionMode: agentsdk.PermissionDefault, CleanEnv: true,
		Env: map[string]string{
			"HOME": r.home, "PATH": os.Getenv("PATH"), "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "NO_PROXY": "127.0.0.1",
		},
		Stderr: func(text string) { t.Log("stderr: " + text) },
	}
}

// run runs one prompt, and returns its result.
func (r *realSession) run(t *testing.T, o agentsdk.AgentOptions) (*agentsdk.AgentSession, *agentsdk.ResultMessage, error) {
	t.Helper()
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.WithoutCancel(r.ctx)) })
	s, err := agent.StartSession(r.ctx, agentsdk.SessionConfig{Prompt: "Go on"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := lastResult(s.Messages())
	return s, result, err
}

func lastResult(messages iter.Seq2[agentsdk.Message, error]) (*agentsdk.ResultMessage, error) {
	var last *agentsdk.ResultMessage
	for message, err := range messages {
		if err != nil {
			return last, err
		}
		if result, ok := message.(*agentsdk.ResultMessage); ok {
			last = result
		}
	}
	return last, nil
}

func demand(t *testing.T, result *agentsdk.ResultMessage, err error, want string) {
	t.Helper()
	if err != nil || result == nil {
		t.Fatalf("the result is %v, %v, want a success with %q", result, err, want)
	}
	if !result.Success() || result.Result != want {
		t.Fatalf("the result is %s, want a success with %q", result.Raw(), want)
	}
}

type operands struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// calculator returns a server with one tool.
func calculator(t *testing.T, add func(ctx context.Context, in operands, tc agentsdk.ToolContext) (agentsdk.ToolResult, error)) map[string]agentsdk.McpServerConfig {
	t.Helper()
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{
		Name: "calculator", AlwaysLoad: true, Tools: []agentsdk.SdkTool{agentsdk.MustTool("add", "Add two numbers", add)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]agentsdk.McpServerConfig{"calc": server}
}

func sum(_ context.Context, in operands, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
	return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil
}

const callAdd = `
- {name: sum, when: {result: "42"}, answer: {text: It is 42}}
- {name: refused, when: {result: "not today"}, answer: {text: It may not be}}
- {name: call, when: {tool: mcp__calc__add}, answer: {tools: [{tool: mcp__calc__add, id: toolu_01, input: {a: 15, b: 27}}]}}
- {name: rest, answer: {text: ok}, times: any}
`

func realCalculator(t *testing.T, r *realSession) {
	o := r.options(t, callAdd)
	o.MCPServers, o.AllowedTools = calculator(t, sum), []string{"mcp__calc__add"}
	s, result, err := r.run(t, o)
	demand(t, result, err, "It is 42")
	calls := s.ToolCallHistory()
	if len(calls) != 1 || calls[0].ToolUseID != "toolu_01" || calls[0].ServerName != "calc" || calls[0].ToolName != "add" {
		t.Errorf("the calls are %+v, want one of add", calls)
	}
	if end, err := s.WaitForCompletion(r.ctx); err != nil || !end.Success || s.GetState().State != agentsdk.StateCompleted {
		t.Errorf("the end is %+v, %v in the state %s", end, err, s.GetState().State)
	}
}

const callTouch = `
- {name: done, when: {result: ""}, answer: {text: Done}, times: any}
- {name: call, when: {tool: Bash}, answer: {tools: [{tool: Bash, id: toolu_02, input: {command: touch made.txt, description: Make a file}}]}}
- {name: rest, answer: {text: ok}, times: any}
`

// touch lets the model call Bash, and returns what was asked.
func (r *realSession) touch(t *testing.T, answer agentsdk.PermissionResult) (asked []string, made bool, result *agentsdk.ResultMessage) {
	t.Helper()
	o := r.options(t, callTouch)
	questions := make(chan string, 10)
	o.CanUseTool = func(_ context.Context, tool string, input map[string]any, pc agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
		questions <- fmt.Sprint(tool, " ", pc.ToolUseID, " ", input["command"])
		return answer, nil
	}
	_, result, err := r.run(t, o)
	demand(t, result, err, "Done")
	close(questions)
	for q := range questions {
		asked = append(asked, q)
	}
	_, err = os.Stat(filepath.Join(r.directory, "made.txt"))
	return asked, err == nil, result
}

func realAllowed(t *testing.T, r *realSession) {
	asked, made, result := r.touch(t, agentsdk.Allow())
	if want := []string{"Bash toolu_02 touch made.txt"}; !slices.Equal(asked, want) || !made || len(result.PermissionDenials) != 0 {
		t.Errorf("asked %q, made the file: %t, denied %+v", asked, made, result.PermissionDenials)
	}
}

func realDenied(t *testing.T, r *realSession) {
	asked, made, result := r.touch(t, agentsdk.Deny("not in this folder"))
	if want := []string{"Bash toolu_02 touch made.txt"}; !slices.Equal(asked, want) || made || len(result.PermissionDenials) != 1 {
		t.Errorf("asked %q, made the file: %t, denied %+v", asked, made, result.PermissionDenials)
	}
}

func realHook(t *testing.T, r *realSession) {
	o := r.options(t, callAdd)
	called := make(chan string, 10)
	o.MCPServers = calculator(t, func(ctx context.Context, in operands, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		called <- "the tool"
		return sum(ctx, in, tc)
	})
	o.AllowedTools = []string{"mcp__calc__add"}
	o.Hooks = map[string][]agentsdk.HookMatcher{"PreToolUse": {{Matcher: "mcp__calc__.*", Hooks: []agentsdk.HookCallback{
		func(_ context.Context, in agentsdk.HookInput, toolUseID string) (agentsdk.HookOutput, error) {
			called <- in.HookEventName + " " + in.ToolName + " " + toolUseID
			return agentsdk.HookOutput{HookSpecificOutput: &agentsdk.HookSpecificOutput{
				PermissionDecision: "deny", PermissionDecisionReason: "not today",
			}}, nil
		},
	}}}}
	_, result, err := r.run(t, o)
	demand(t, result, err, "It may not be")
	close(called)
	if got := <-called; got != "PreToolUse mcp__calc__add toolu_01" || len(called) != 0 {
		t.Errorf("called %q and %d more, want the hook alone", got, len(called))
	}
}

func realInterrupt(t *testing.T, r *realSession) {
	o := r.options(t, `
- {name: call, when: {tool: mcp__calc__add}, answer: {tools: [{tool: mcp__calc__add, id: toolu_01, input: {a: 15, b: 27}}]}}
- {name: rest, answer: {text: Here I am}, times: any}
`)
	running, cancelled := make(chan bool), make(chan bool)
	o.MCPServers = calculator(t, func(ctx context.Context, _ operands, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		close(running)
		<-ctx.Done()
		close(cancelled)
		return agentsdk.ToolResult{}, ctx.Err()
	})
	o.AllowedTools = []string{"mcp__calc__add"}
	c := r.connect(t, o)
	must(t, c.Query(r.ctx, "Add 15 and 27"))
	await(t, r.ctx, running, "the tool runs")
	if _, err := c.Interrupt(r.ctx); err != nil {
		t.Fatal(err)
	}
	await(t, r.ctx, cancelled, "the tool is cancelled")
	if result, err := lastResult(c.ReceiveResponse(r.ctx)); err != nil || result == nil || !result.Interrupted() {
		t.Fatalf("the result is %+v, %v, want an interrupted one", result, err)
	}
	must(t, c.Query(r.ctx, "Once more"))
	result, err := lastResult(c.ReceiveResponse(r.ctx))
	demand(t, result, err, "Here I am")
}

// The model says something else to a CLI that knows what it has said before.
const remembers = `
- {name: remembered, when: {matches: {"$.messages[?@.role=='assistant'].content[0].text": Noted}}, answer: {text: "It was 42"}}
- {name: noted, answer: {text: Noted}, times: any}
`

func realResume(t *testing.T, r *realSession) {
	o := r.options(t, remembers)
	c := r.connect(t, o)
	must(t, c.Query(r.ctx, "Remember 42"))
	result, err := lastResult(c.ReceiveResponse(r.ctx))
	demand(t, result, err, "Noted")
	must(t, c.Disconnect(r.ctx))
	o.Resume = result.SessionID()
	c = r.connect(t, o)
	must(t, c.Query(r.ctx, "What was it"))
	result, err = lastResult(c.ReceiveResponse(r.ctx))
	demand(t, result, err, "It was 42")
}

func realResumeOfNothing(t *testing.T, r *realSession) {
	o := r.options(t, remembers)
	o.Resume = "6b8c7f5e-1111-4000-8000-000000000001"
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	must(t, err)
	defer func() { must(t, agent.Close(context.WithoutCancel(r.ctx))) }()
	s, err := agent.StartSession(r.ctx, agentsdk.SessionConfig{Prompt: "Go on"})
	if err != nil {
		return // it had ended before it was asked
	}
	if end, err := s.WaitForCompletion(r.ctx); err != nil || end.Success {
		t.Errorf("the end is %+v, %v, want a failure", end, err)
	}
}

func (r *realSession) connect(t *testing.T, o agentsdk.AgentOptions) *agentsdk.ClaudeCodeClient {
	t.Helper()
	c, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: o})
	must(t, err)
	t.Cleanup(func() { must(t, c.Disconnect(context.WithoutCancel(r.ctx))) })
	must(t, c.Connect(r.ctx))
	return c
}

func await(t *testing.T, ctx context.Context, done <-chan bool, what string) {
	t.Helper()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatalf("%v before %s", context.Cause(ctx), what)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) { os.Exit(leak.RunPrograms(m)) }
