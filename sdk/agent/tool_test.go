package agentsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

type inner struct {
	X int `json:"x"`
}

type everything struct {
	inner
	Z     string            `json:"z" jsonschema:"description=first, and only,enum=a|b"`
	N     int               `jsonschema:"minimum=0,maximum=9,enum=1|2"`
	F     *float64          `json:"f"`
	B     bool              `json:"b,omitempty"`
	List  []inner           `json:"list"`
	Map   map[string]string `json:"map,omitzero"`
	When  time.Time         `json:"when"`
	Bytes []byte            `json:"bytes"`
	Any   any               `json:"any"`
	Raw   json.RawMessage   `json:"raw"`
	Skip  string            `json:"-"`
	priv  int
}

func TestSchemas(t *testing.T) {
	got, err := agentsdk.SchemaFor[*everything]()
	want := `{"type":"object","properties":{"x":{"type":"integer"},"z":{"type":"string","description":"first, and only","enum":["a","b"]},` +
		`"N":{"type":"integer","enum":[1,2],"minimum":0,"maximum":9},"f":{"type":"number"},"b":{"type":"boolean"},` +
		`"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},` +
		`"map":{"type":"object","additionalProperties":{"type":"string"}},"when":{"type":"string","format":"date-time"},"bytes":{"type":"string"},"any":{},"raw":{}},` +
		`"required":["x","z","N","list","when","bytes","any","raw"]}`
	if err != nil {
		t.Fatal(err)
	}
	same(t, "schema", string(got), want)
	order := []string{`"x"`, `"z"`, `"N"`, `"f"`, `"b"`, `"list"`, `"map"`, `"when"`, `"bytes"`, `"any"`, `"raw"`}
	rest := string(got)
	for _, name := range order {
		_, after, ok := strings.Cut(rest, name+":")
		if !ok {
			t.Fatalf("%s is out of order in %s", name, got)
		}
		rest = after
	}
	same(t, "simple", string(agentsdk.SimpleSchema(agentsdk.Field{Name: "b", Type: "number"}, agentsdk.Field{Name: "a", Type: "string"})),
		`{"type":"object","properties":{"b":{"type":"number"},"a":{"type":"string"}},"required":["b","a"]}`)
	_ = everything{priv: 1}
}

type loop struct{ Next *loop }

func TestSchemasThatCannotBeMade(t *testing.T) {
	ok := func() (agentsdk.ToolResult, error) { return agentsdk.TextResult(""), nil }
	for want, make := range map[string]func() (agentsdk.SdkTool, error){
		"loop contains itself": func() (agentsdk.SdkTool, error) {
			return agentsdk.Tool("t", "", func(context.Context, loop, agentsdk.ToolContext) (agentsdk.ToolResult, error) { return ok() })
		},
		"is not a struct": func() (agentsdk.SdkTool, error) {
			return agentsdk.Tool("t", "", func(context.Context, string, agentsdk.ToolContext) (agentsdk.ToolResult, error) { return ok() })
		},
		"field C: chan int has no JSON Schema": func() (agentsdk.SdkTool, error) {
			return agentsdk.Tool("t", "", func(context.Context, struct{ C chan int }, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
				return ok()
			})
		},
		"field A: jsonschema tag": func() (agentsdk.SdkTool, error) {
			return agentsdk.Tool("t", "", func(context.Context, struct {
				A int `jsonschema:"minimum=x"`
			}, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
				return ok()
			})
		},
		`no "type":"object"`: func() (agentsdk.SdkTool, error) {
			return agentsdk.RawTool("t", "", agentsdk.JSONSchema(`{"type":"string"}`), func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) { return ok() })
		},
		"not a JSON Schema": func() (agentsdk.SdkTool, error) {
			return agentsdk.RawTool("t", "", nil, func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) { return ok() })
		},
		"no function": func() (agentsdk.SdkTool, error) { return agentsdk.RawTool("t", "", agentsdk.SimpleSchema(), nil) },
		"no name": func() (agentsdk.SdkTool, error) {
			return agentsdk.RawTool("", "", agentsdk.SimpleSchema(), func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) { return ok() })
		},
	} {
		if _, err := make(); !errors.Is(err, agentsdk.ErrInvalidOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRegistries(t *testing.T) {
	r := agentsdk.NewToolRegistry()
	check(t, "register", r.Register(adder(nil)))
	if err := r.Register(adder(nil)); !errors.Is(err, agentsdk.ErrInvalidOption) {
		t.Errorf("a second tool: %v", err)
	}
	failing := agentsdk.MustTool("fail", "", func(_ context.Context, in struct{ Small int8 }, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		panic(context.DeadlineExceeded)
	})
	check(t, "register", r.Register(failing))
	if tool, ok := r.Get("add"); !ok || tool.Description != "Add two numbers" || len(r.List()) != 2 || r.List()[1].Name != "fail" {
		t.Errorf("%+v", tool)
	}
	result, err := r.HandleToolCall(t.Context(), "add", json.RawMessage(`{"a":1,"b":2}`), agentsdk.ToolContext{})
	if diff := cmp.Diff(agentsdk.TextResult("3"), result); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for args, want := range map[string]string{`null`: `invalid arguments of tool "add"`, `{"a":1,"b":null}`: "/properties/b"} {
		_, err := r.HandleToolCall(t.Context(), "add", json.RawMessage(args), agentsdk.ToolContext{})
		if failed := (*agentsdk.ToolExecutionError)(nil); !errors.As(err, &failed) || failed.ToolName != "add" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	_, err = r.HandleToolCall(t.Context(), "fail", json.RawMessage(`{"Small":1}`), agentsdk.ToolContext{})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, agentsdk.ErrToolExecution) {
		t.Errorf("a panic with an error: %v", err)
	}
	_, err = r.HandleToolCall(t.Context(), "fail", json.RawMessage(`{"Small":300}`), agentsdk.ToolContext{})
	if err == nil || !strings.Contains(err.Error(), `invalid arguments of tool "fail"`) {
		t.Errorf("a value that does not fit: %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	allow := func(context.Context, string, map[string]any, agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
		return agentsdk.Allow(), nil
	}
	for want, o := range map[string]agentsdk.AgentOptions{
		"PermissionPromptToolName": {CanUseTool: allow, PermissionPromptToolName: "t"},
		"Continue":                 {Resume: "r", Continue: true},
		"SessionID: it is not":     {SessionID: "x"},
		"SessionID: the continued": {SessionID: "2b0e8a52-0f0e-4a8e-9b2b-3f8f5a6f9d01", Resume: "r"},
		"SystemPrompt: the only":   {SystemPrompt: &agentsdk.SystemPrompt{Preset: "x"}},
		"SystemPrompt: with":       {SystemPrompt: &agentsdk.SystemPrompt{Preset: "claude_code", Text: "x"}},
		"MCPServersDelivery":       {MCPServersDelivery: "x"},
		"Hooks: Stop: a matcher":   {Hooks: map[string][]agentsdk.HookMatcher{"Stop": {{}}}},
		"MCPServers: a: Command":   {MCPServers: map[string]agentsdk.McpServerConfig{"a": agentsdk.McpStdioServerConfig{}}},
		"MCPServers: b: it needs":  {MCPServers: map[string]agentsdk.McpServerConfig{"b": agentsdk.McpHttpServerConfig{Type: "ws", URL: "u"}}},
		"MCPServers: c: it is nil": {MCPServers: map[string]agentsdk.McpServerConfig{"c": nil}},
		"MCPServers: d: it is nil": {MCPServers: map[string]agentsdk.McpServerConfig{"d": (*agentsdk.McpSdkServerConfig)(nil)}},
	} {
		_, err := agentsdk.NewClaudeCodeAgent(o)
		_, clientErr := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: o})
		if failed := (*agentsdk.OptionError)(nil); !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), want) || clientErr == nil {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "x", Tools: []agentsdk.SdkTool{adder(nil), adder(nil)}}); !errors.Is(err, agentsdk.ErrInvalidOption) {
		t.Errorf("duplicate tools: %v", err)
	}
	if _, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "x", Timeout: time.Millisecond}); !errors.Is(err, agentsdk.ErrInvalidOption) {
		t.Errorf("a short timeout: %v", err)
	}
	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{}); !errors.Is(err, agentsdk.ErrInvalidOption) {
		t.Errorf("an empty prompt: %v", err)
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("the cause")
	for _, tc := range []struct {
		err      agentsdk.ClaudeCodeAgentError
		sentinel error
		code     string
		mention  []string
		wraps    bool
	}{
		{&agentsdk.CLINotFoundError{Path: "/x", Err: cause}, agentsdk.ErrCLINotFound, "CLI_NOT_FOUND", []string{"/x"}, true},
		{&agentsdk.CLIConnectionError{Reason: "it ended", ExitCode: 3, Stderr: "oh\n", Err: cause}, agentsdk.ErrCLIConnection, "CLI_CONNECTION", []string{"it ended", "3", "oh", "the cause"}, true},
		{&agentsdk.CLIConnectionError{Reason: "it ended", ExitCode: -1, Signal: "killed"}, agentsdk.ErrCLIConnection, "CLI_CONNECTION", []string{"killed"}, false},
		{&agentsdk.ToolExecutionError{ToolName: "add", Err: cause}, agentsdk.ErrToolExecution, "TOOL_EXECUTION", []string{"add", "the cause"}, true},
		{&agentsdk.ControlProtocolError{RequestID: "r1", Subtype: "s", Message: "m", ErrorCode: "c"}, agentsdk.ErrControlProtocol, "CONTROL_PROTOCOL", []string{"r1", "s", "m", "c"}, false},
		{&agentsdk.TimeoutError{Operation: "op", Timeout: time.Second}, agentsdk.ErrTimeout, "TIMEOUT", []string{"op", "1s"}, false},
		{&agentsdk.InvalidStateError{Current: "idle", Expected: []agentsdk.SessionState{"running"}}, agentsdk.ErrInvalidState, "INVALID_STATE", []string{"idle", "running"}, false},
		{&agentsdk.OptionError{Option: "O", Message: "m"}, agentsdk.ErrInvalidOption, "INVALID_OPTION", []string{"O", "m"}, false},
	} {
		if !errors.Is(tc.err, tc.sentinel) || tc.err.Code() != tc.code || errors.Is(tc.err, cause) != tc.wraps || errors.Is(tc.err, agentsdk.ErrTimeout) != (tc.code == "TIMEOUT") {
			t.Errorf("%#v has code %s", tc.err, tc.err.Code())
		}
		for _, part := range tc.mention {
			if !strings.Contains(tc.err.Error(), part) {
				t.Errorf("%q does not mention %q", tc.err, part)
			}
		}
		if sentinel, ok := tc.sentinel.(agentsdk.ClaudeCodeAgentError); !ok || sentinel.Code() != tc.code {
			t.Errorf("the sentinel of %s: %v", tc.code, tc.sentinel)
		}
	}
}
