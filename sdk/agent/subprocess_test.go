//go:build linux

package agentsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// one runs a session to its end. It returns its messages' types, how it has ended, and the error of the iterator.
func one(t testing.TB, o agentsdk.AgentOptions, prompt string) (types []string, result agentsdk.SessionResult, last error) {
	t.Helper()
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close(t.Context())
	s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: prompt})
	if err != nil {
		return nil, result, err
	}
	for m, err := range s.Messages() {
		if err != nil {
			last = err
			continue
		}
		types = append(types, m.Type())
	}
	if result, err = s.WaitForCompletion(t.Context()); err != nil {
		t.Fatal(err)
	}
	return types, result, last
}

func TestASessionRunsOnePrompt(t *testing.T) {
	types, result, err := one(t, options(t, "good"), "hello")
	if diff := cmp.Diff([]string{"system", "assistant", "result"}, types); diff != "" || err != nil || !result.Success {
		t.Errorf("%v, %+v (-want +got):\n%s", err, result, diff)
	}
}

// echo returns the arguments and the environment that the CLI gets.
func echo(t *testing.T, o agentsdk.AgentOptions) (args []string, env map[string]string, cwd string) {
	t.Helper()
	fake := options(t, "echo")
	o.CLIPath = fake.CLIPath
	for k, v := range o.Env {
		fake.Env[k] = v
	}
	o.Env = fake.Env
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close(t.Context())
	s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	env = map[string]string{}
	for m, err := range s.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		if m.Type() != "echo" {
			continue
		}
		var e struct {
			Args, Env []string
			Cwd       string
		}
		if err := json.Unmarshal(m.Raw(), &e); err != nil {
			t.Fatal(err)
		}
		args, cwd = e.Args, e.Cwd
		for _, variable := range e.Env {
			k, v, _ := strings.Cut(variable, "=")
			env[k] = v
		}
	}
	return args, env, cwd
}

func TestArgumentsOfEachOption(t *testing.T) {
	yes := func(context.Context, string, map[string]any, agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
		return agentsdk.Allow(), nil
	}
	calc, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calc"})
	if err != nil {
		t.Fatal(err)
	}
	id := "2b0e8a52-0f0e-4a8e-9b2b-3f8f5a6f9d01"
	for _, tc := range []struct {
		o    agentsdk.AgentOptions
		want []string
	}{
		{agentsdk.AgentOptions{}, nil},
		{agentsdk.AgentOptions{AllowedTools: []string{"A", "B"}}, []string{"--allowedTools=A,B"}},
		{agentsdk.AgentOptions{DisallowedTools: []string{"-x"}}, []string{"--disallowedTools=-x"}},
		{agentsdk.AgentOptions{Tools: []string{}}, []string{"--tools="}},
		{agentsdk.AgentOptions{Tools: []string{"default"}}, []string{"--tools=default"}},
		{agentsdk.AgentOptions{PermissionMode: "plan", AllowDangerouslySkipPermissions: true}, []string{"--permission-mode=plan", "--allow-dangerously-skip-permissions"}},
		{agentsdk.AgentOptions{CanUseTool: yes}, []string{"--permission-prompt-tool=stdio"}},
		{agentsdk.AgentOptions{PermissionPromptToolName: "mcp__a__b"}, []string{"--permission-prompt-tool=mcp__a__b"}},
		{agentsdk.AgentOptions{Model: "m", FallbackModel: "f", MaxTurns: 3, MaxBudgetUSD: 0.25, MaxThinkingTokens: new(0)},
			[]string{"--model=m", "--fallback-model=f", "--max-turns=3", "--max-budget-usd=0.25", "--max-thinking-tokens=0"}},
		{agentsdk.AgentOptions{MCPServers: map[string]agentsdk.McpServerConfig{
			"calc": calc, "files": agentsdk.McpStdioServerConfig{Command: "c", Args: []string{"<a>"}, Env: map[string]string{"K": "v"}}, "web": agentsdk.McpHttpServerConfig{Type: "sse", URL: "u", Headers: map[string]string{"H": "v"}},
		}, StrictMCPConfig: true}, []string{"--mcp-config", `{"mcpServers":{"files":{"type":"stdio","command":"c","args":["<a>"],"env":{"K":"v"}},"web":{"type":"sse","url":"u","headers":{"H":"v"}}}}`, "--strict-mcp-config"}},
		{agentsdk.AgentOptions{MCPServers: map[string]agentsdk.McpServerConfig{"calc": calc}}, nil},
		{agentsdk.AgentOptions{Resume: "r", ForkSession: true, ResumeSessionAt: "u", SessionID: id}, []string{"--resume=r", "--fork-session", "--resume-session-at=u", "--session-id=" + id}},
		{agentsdk.AgentOptions{Continue: true}, []string{"--continue"}},
		{agentsdk.AgentOptions{IncludePartialMessages: true, IncludeHookEvents: true, AddDirs: []string{"/a", "/b"}}, []string{"--include-partial-messages", "--include-hook-events", "--add-dir=/a", "--add-dir=/b"}},
		{agentsdk.AgentOptions{SettingSources: []string{}, Settings: "{}"}, []string{"--setting-sources=", "--settings", "{}"}},
		{agentsdk.AgentOptions{SettingSources: []string{"user", "project"}, Agent: "lead", JSONSchema: agentsdk.JSONSchema(`{"type":"object"}`), Effort: "low"},
			[]string{"--setting-sources=user,project", "--agent=lead", `--json-schema={"type":"object"}`, "--effort=low"}},
		{agentsdk.AgentOptions{NoSessionPersistence: true, Debug: true, DebugFile: "f"}, []string{"--no-session-persistence", "--debug", "--debug-file=f"}},
		{agentsdk.AgentOptions{ExtraArgs: map[string]*string{"z": nil, "a": new("-1")}}, []string{"--a", "-1", "--z"}},
	} {
		got, _, _ := echo(t, tc.o)
		want := append([]string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}, tc.want...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tc.o, diff)
		}
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Setenv("HOST_VARIABLE", "host")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, env, cwd := echo(t, agentsdk.AgentOptions{Cwd: dir, Env: map[string]string{"MINE": "1", "CLAUDE_CODE_ENTRYPOINT": "other"}})
	if env["HOST_VARIABLE"] != "host" || env["MINE"] != "1" || env["CLAUDE_CODE_ENTRYPOINT"] != "other" || env["CLAUDE_AGENT_SDK_VERSION"] == "" || env["CLAUDE_CODE_SDK_READS_SESSION_STATE"] != "1" || cwd != dir {
		t.Errorf("in %s: %v", cwd, env)
	}
	_, env, _ = echo(t, agentsdk.AgentOptions{CleanEnv: true})
	if _, inherited := env["HOST_VARIABLE"]; inherited || env["CLAUDE_CODE_ENTRYPOINT"] != "sdk-go" {
		t.Errorf("clean: %v", env)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	testfile.Write(t, plain, "text")
	wrong := filepath.Join(dir, "wrong")
	testfile.Write(t, wrong, "text")
	if err := os.Chmod(wrong, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "none"): agentsdk.ErrCLINotFound, "no-such-cli-in-path": agentsdk.ErrCLINotFound, filepath.Join(dir, "none.js"): agentsdk.ErrCLINotFound,
		plain: agentsdk.ErrCLIConnection, wrong: agentsdk.ErrCLIConnection, dir: agentsdk.ErrCLIConnection,
	} {
		_, _, err := one(t, agentsdk.AgentOptions{CLIPath: path}, "x")
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	o := options(t, "good")
	o.Cwd = filepath.Join(dir, "gone")
	_, _, err := one(t, o, "x")
	if failed := (*agentsdk.CLIConnectionError)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), "working directory") {
		t.Errorf("no folder: %v", err)
	}
}

func TestHowACLIEnds(t *testing.T) {
	for _, tc := range []struct {
		fake    string
		state   agentsdk.SessionState // "" if the start fails
		want    error                 // of the iterator, or of the start
		code    int
		signal  string
		mention string
	}{
		{"early exit", "", agentsdk.ErrCLIConnection, 1, "", "no such session"},
		{"refuses", "", agentsdk.ErrControlProtocol, 0, "", "too old"},
		{"silent", "", agentsdk.ErrTimeout, 0, "", "initialize"},
		{"no result", agentsdk.StateFailed, agentsdk.ErrCLIConnection, 0, "", "without a result"},
		{"exit 3", agentsdk.StateFailed, agentsdk.ErrCLIConnection, 3, "", "it broke"},
		{"killed", agentsdk.StateFailed, agentsdk.ErrCLIConnection, -1, "killed", "killed"},
		{"exit 1 after an error", agentsdk.StateFailed, nil, 0, "", ""},
		{"exit 1 after success", agentsdk.StateCompleted, agentsdk.ErrCLIConnection, 1, "", "exit code 1"},
		{"half a line", agentsdk.StateCompleted, nil, 0, "", ""},
		{"good", agentsdk.StateCompleted, nil, 0, "", ""},
	} {
		t.Run(tc.fake, func(t *testing.T) {
			o := options(t, tc.fake)
			if tc.fake == "silent" {
				o.InitializeTimeout = 50 * time.Millisecond
			}
			var states []agentsdk.SessionState
			var mu sync.Mutex
			done := make(chan struct{})
			o.Events.OnStateChange = func(c agentsdk.StateChange) {
				mu.Lock()
				defer mu.Unlock()
				states = append(states, c.To)
				if c.To.IsTerminal() {
					close(done)
				}
			}
			_, result, err := one(t, o, "x")
			<-done
			mu.Lock()
			defer mu.Unlock()
			want := tc.state
			if want == "" {
				want = agentsdk.StateFailed
			} else if tc.state == agentsdk.StateFailed && tc.want != nil && !errors.Is(result.Err, tc.want) {
				t.Errorf("result: %+v", result)
			}
			if !errors.Is(err, tc.want) || states[len(states)-1] != want {
				t.Fatalf("%v in %v, want %v in %s", err, states, tc.want, want)
			}
			if tc.want != nil && !strings.Contains(err.Error(), tc.mention) {
				t.Errorf("%v does not mention %q", err, tc.mention)
			}
			if failed := (*agentsdk.CLIConnectionError)(nil); errors.As(err, &failed) && (failed.ExitCode != tc.code || failed.Signal != tc.signal) {
				t.Errorf("exit code %d, signal %q", failed.ExitCode, failed.Signal)
			}
		})
	}
}

func TestJunkBetweenLinesIsSkipped(t *testing.T) {
	o := options(t, "junk")
	var mu sync.Mutex
	var warnings []string
	complete := make(chan struct{})
	o.Events.OnWarning = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, text)
	}
	o.Events.OnComplete = func(agentsdk.SessionResult) { close(complete) }
	types, result, err := one(t, o, "x")
	<-complete
	if diff := cmp.Diff([]string{"new", "result"}, types); diff != "" || err != nil || !result.Success {
		t.Errorf("%v, %+v (-want +got):\n%s", err, result, diff)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(warnings) != 10 {
		t.Errorf("%d warnings: %q", len(warnings), warnings)
	}
}

func TestLargeLines(t *testing.T) {
	types, result, err := one(t, options(t, "large line"), fmt.Sprint(30<<20))
	if len(types) != 2 || err != nil || !result.Success {
		t.Errorf("%v, %v, %+v", types, err, result)
	}
	o := options(t, "large line")
	o.MaxLineBytes = 1 << 20
	_, result, err = one(t, o, fmt.Sprint(2<<20))
	if !errors.Is(err, agentsdk.ErrControlProtocol) || result.Success || !errors.Is(result.Err, agentsdk.ErrControlProtocol) {
		t.Errorf("over the limit: %v, %+v", err, result)
	}
	o.MaxLineBytes = -1
	if _, _, err = one(t, o, fmt.Sprint(2<<20)); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

func TestTheShutdownLadder(t *testing.T) {
	o := options(t, "stubborn")
	o.ShutdownGrace, o.KillGrace = 300*time.Millisecond, 300*time.Millisecond
	var mu sync.Mutex
	var said strings.Builder
	o.Stderr = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said.WriteString(text)
	}
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := s.Abort(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took < 600*time.Millisecond {
		t.Errorf("it was killed after %v", took)
	}
	for _, err := range s.Messages() {
		t.Errorf("after an abort: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		got := said.String()
		mu.Unlock()
		if got == "EOF\nSIGTERM\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("stderr: %q", got)
		}
	}
}

func TestAContextThatEndsMakesTheShutdownFaster(t *testing.T) {
	client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: options(t, "slow to end")})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := client.ServerInfo().PID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = client.Disconnect(ctx)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process %d: %v", pid, err)
	}
	if client.IsConnected() || client.GetState().State != agentsdk.StateCompleted {
		t.Errorf("state %s", client.GetState().State)
	}
}

func TestTheContextOfASessionIsItsLifetime(t *testing.T) {
	agent, err := agentsdk.NewClaudeCodeAgent(options(t, "silent after the handshake"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, err := agent.StartSession(ctx, agentsdk.SessionConfig{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	var last error
	for _, err := range s.Messages() {
		last = err
	}
	result, err := s.WaitForCompletion(t.Context())
	if !errors.Is(last, context.Canceled) || err != nil || !errors.Is(result.Err, context.Canceled) || s.GetState().State != agentsdk.StateCancelled {
		t.Errorf("%v, %v, %+v", last, err, result)
	}
}

func TestBreakingOutOfTheLoopClosesTheSession(t *testing.T) {
	agent, err := agentsdk.NewClaudeCodeAgent(options(t, "good"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for range s.Messages() {
		break
	}
	if !s.GetState().State.IsTerminal() {
		t.Errorf("state %s", s.GetState().State)
	}
	for _, err := range s.Messages() {
		if !errors.Is(err, agentsdk.ErrInvalidState) {
			t.Errorf("the second loop: %v", err)
		}
	}
}

func TestAGrandchildDoesNotHoldTheSession(t *testing.T) {
	o := options(t, "held open")
	o.ShutdownGrace = 100 * time.Millisecond
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for m, err := range s.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		var child struct{ Pid int }
		if json.Unmarshal(m.Raw(), &child) == nil && child.Pid > 0 {
			defer syscall.Kill(child.Pid, syscall.SIGKILL)
		}
		types = append(types, m.Type())
	}
	if !slices.Equal(types, []string{"child", "result"}) {
		t.Errorf("messages: %q", types)
	}
}

func TestAFastCLIDoesNotReorderEvents(t *testing.T) {
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calc", Tools: []agentsdk.SdkTool{adder(nil)}})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "calls")
	o.MCPServers = map[string]agentsdk.McpServerConfig{"calc": server}
	var events []string
	note := func(text string) { events = append(events, text) }
	done := make(chan struct{})
	o.Events = agentsdk.Events{
		OnStateChange: func(c agentsdk.StateChange) { note(string(c.To)) },
		OnToolCall:    func(agentsdk.ToolCallInfo) { note("call") },
		OnToolResult:  func(agentsdk.ToolResultInfo) { note("result") },
		OnMessage:     func(agentsdk.Message) { note("message") },
		OnComplete:    func(agentsdk.SessionResult) { close(done) },
	}
	const calls = 1000
	if _, _, err := one(t, o, fmt.Sprint(calls, 1)); err != nil {
		t.Fatal(err)
	}
	<-done
	want := []string{"starting", "running"}
	for range calls {
		want = append(want, "waiting_tool_call", "call", "result", "running")
	}
	want = append(want, "message", "completed")
	for i := range want {
		if i >= len(events) || events[i] != want[i] {
			t.Fatalf("event %d: %q, want %q", i, events[i:min(i+8, len(events))], want[i:min(i+8, len(want))])
		}
	}
}

func TestAllOfStandardErrorComesBeforeTheEnd(t *testing.T) {
	o := options(t, "flood")
	var size atomic.Int64
	o.Stderr = func(text string) {
		runtime.Gosched() // others go first
		size.Add(int64(len(text)))
	}
	agent, err := agentsdk.NewClaudeCodeAgent(o)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close(t.Context())
	s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Messages() {
		if err != nil {
			t.Error(err)
		}
	}
	if got := size.Load(); got != 3<<20 {
		t.Errorf("%d bytes, want %d", got, 3<<20)
	}
}
