package connector

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// written returns a result as clients see it.
func written(r message.ToolResult) string {
	if r.Error != nil {
		return "error " + *r.Error
	}
	var all []string
	for _, c := range r.Value {
		w := jsonwire.NewWriter(nil)
		c.Write(w)
		all = append(all, string(w.Text()))
	}
	return strings.Join(all, " ")
}

// quiet returns a call that ignores notifications.
func quiet(name, arguments string) toolbox.Call {
	call := toolbox.Call{RequestID: "call_1", Name: name, Notify: func(toolbox.Notification) {}}
	if arguments != "" {
		call.Arguments = json.RawMessage(arguments)
	}
	return call
}

func names(tools []llm.Tool) string {
	var all []string
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

func TestResultsOfCalls(t *testing.T) {
	s := connected(t)
	for _, tc := range []struct{ name, tool, arguments, want string }{
		{"as they came", "test__echo", `{"z":1.0,"a":12345678901234567890,"<":"é"}`, `{"type":"text","text":"{\"z\":1.0,\"a\":12345678901234567890,\"<\":\"é\"}"}`},
		{"none", "test__echo", "", `{"type":"text","text":"{}"}`},
		{"isError is dropped", "test__fail", "{}", `{"type":"text","text":"it failed"}`},
		{"an error of the protocol", "test__explode", "{}", `error -32000: it exploded ({"z":1,"a":[]})`},
		{"unknown to the server", "test__nope", "{}", `error -32602: unknown tool "nope"`},
		{"unknown", "nope__x", "{}", "error -32603: -32002: nope__x"},
		{"no tool of an extension", "test", "{}", "error -32603: -32002: test"},
		{"the environment", "test__env", `{"names":["INHERITED","GOOSE_SERVER__SECRET_KEY"]}`, `{"type":"text","text":"i,"}`},
		{"all kinds", "test__many", "{}", `{"type":"image","data":"eA==","mimeType":"image/png","_meta":{"m":1}} {"type":"resource","resource":{"uri":"a:b","text":"t"}} {"type":"resource_link","uri":"a:c","name":"n","annotations":{"audience":["user"]}}`},
		{"a server that ends", "test__exit", "{}", "error -32603: Connection closed"},
		{"a server that has ended", "test__echo", "{}", "error -32603: Connection closed"},
	} {
		if got := written(s.Call(t.Context(), quiet(tc.tool, tc.arguments))); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func TestWhatModelsAreShown(t *testing.T) {
	s := connected(t)
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := names(snapshot.Tools); got != "test__ask test__echo test__env test__exit test__explode test__fail test__many test__tell test__wait" {
		t.Errorf("tools: %s", got)
	}
	echo := snapshot.Tools[1]
	if string(echo.Schema) != `{"type":"object","properties":{"z":{},"a":{"const":1.0}}}` || echo.Description != "Does echo" {
		t.Errorf("echo: %+v", echo)
	}
	if len(snapshot.Instructions) != 1 || snapshot.Instructions[0] != (toolbox.Instructions{Key: "test", Text: "Be gentle."}) {
		t.Errorf("instructions: %v", snapshot.Instructions)
	}
	s.Call(t.Context(), quiet("test__exit", ""))
	if snapshot, err = s.Snapshot(t.Context()); !errors.Is(err, mcperror.Closed) || snapshot.Tools != nil || len(snapshot.Instructions) != 1 {
		t.Errorf("of a server that has ended: %v, %v", snapshot, err)
	}
}

func TestOnlyAvailableTools(t *testing.T) {
	s := newSet(t)
	config := server(t, "a b", "server")
	config.AvailableTools = []string{"echo", "nope"}
	add(t, s, config)
	tools, err := s.ToolsOf(t.Context(), "ab")
	if got := names(tools); got != "ab__echo" || err != nil {
		t.Errorf("tools: %s, %v", got, err)
	}
	if got := written(s.Call(t.Context(), quiet("ab__fail", ""))); got != "error -32603: -32002: Tool not available: ab__fail" {
		t.Errorf("call: %s", got)
	}
	s.Remove("A B")
	if tools, err := s.ToolsOf(t.Context(), "ab"); tools != nil || err != nil {
		t.Errorf("after it was removed: %v, %v", tools, err)
	}
	if got := written(s.Call(t.Context(), quiet("ab__echo", ""))); got != "error -32603: -32002: ab__echo" {
		t.Errorf("call: %s", got)
	}
}

func TestNotifications(t *testing.T) {
	s := connected(t)
	var got []string
	call := quiet("test__tell", "")
	call.Notify = func(n toolbox.Notification) { got = append(got, n.Method+" "+string(n.Params)) }
	if result := written(s.Call(t.Context(), call)); result != `{"type":"text","text":"told"}` {
		t.Fatal(result)
	}
	want := `notifications/progress {"progressToken":"call_1","progress":1,"total":2}`
	if len(got) == 0 || got[0] != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestQuestionsToTheUser(t *testing.T) {
	s := connected(t)
	call := quiet("test__ask", "")
	call.Elicit = func(_ context.Context, text string, schema json.RawMessage) (json.RawMessage, error) {
		if text != "Who?" || string(schema) != `{"properties":{"name":{"type":"string"}},"type":"object"}` && string(schema) != `{"type":"object","properties":{"name":{"type":"string"}}}` {
			t.Errorf("asked %q %s", text, schema)
		}
		return json.RawMessage(`{"name":"me"}`), nil
	}
	if got := written(s.Call(t.Context(), call)); got != `{"type":"text","text":"accept {\"name\":\"me\"}"}` {
		t.Errorf("answered: %s", got)
	}
	call.Elicit = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return nil, turn.Failure("Timeout waiting for user response")
	}
	if got := written(s.Call(t.Context(), call)); !strings.Contains(got, "Timeout waiting for user response") {
		t.Errorf("not answered: %s", got)
	}
}

// waiting calls the tool that waits, and returns when the tool is waiting.
func waiting(t *testing.T, ctx context.Context, s *Set) <-chan string {
	t.Helper()
	began := make(chan struct{}, 1)
	call := quiet("test__wait", "")
	call.Notify = func(toolbox.Notification) { began <- struct{}{} }
	result := make(chan string, 1)
	go func() { result <- written(s.Call(ctx, call)) }()
	return result
}

func within(t *testing.T, what string, result <-chan string) string {
	t.Helper()
	select {
	case got := <-result:
		return got
	case <-time.After(patience):
		t.Fatalf("%s: nothing comes", what)
		return ""
	}
}

func TestCallsEnd(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	add(t, s, server(t, "test", "server"))
	limit(s)
	if got := within(t, "late", waiting(t, t.Context(), s)); got != "error -32603: No answer within 1 s" {
		t.Errorf("late: %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := waiting(t, ctx, s)
	cancel()
	within(t, "cancelled", result)
	result = waiting(t, t.Context(), s)
	s.Remove("test")
	if got := within(t, "removed", result); got != "error -32603: Connection closed" && got != "error -32603: -32002: test__wait" {
		t.Errorf("removed: %s", got)
	}
}

func TestReasonsToRejectAnExtension(t *testing.T) {
	t.Parallel()
	plays := func(role string) extension.Config { return server(t, "x", role) }
	with := func(change func(c *extension.Config)) extension.Config {
		c := plays("server")
		change(&c)
		return c
	}
	second := int64(1)
	for _, tc := range []struct {
		name   string
		config extension.Config
		want   string
	}{
		{"no name", with(func(c *extension.Config) { c.Name = " " }), "Extension has no name"},
		{"no secret", with(func(c *extension.Config) { c.EnvKeys = []string{"TOKEN", "NONE"} }), "invalid config: Failed to fetch secret 'NONE' from config: Configuration value not found: NONE"},
		{"no command", with(func(c *extension.Config) { c.Cmd = "there-is-none" }), "Command not found: there-is-none"},
		{"no path", with(func(c *extension.Config) { c.Cmd = "./none" }), "Command not found: ./none"},
		{"a directory", with(func(c *extension.Config) { c.Cmd = "/" }), "Command not found: /"},
		{"gone at once", plays("gone"), "Connection closed"},
		{"mute", with(func(c *extension.Config) { c.Envs[0].Value = "mute"; c.Timeout = &second }), "No answer within 1 s"},
		{"chatty", plays("chatty"), "Extension does not speak MCP"},
		{"refusing", plays("refusing"), `-32000: not today ({"b":1.0,"a":2})`},
		{"futuristic", plays("futuristic"), "Extension does not speak MCP"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if err := newSet(t).Add(t.Context(), tc.config); err == nil || err.Error() != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

func TestSecretsAndVariables(t *testing.T) {
	s := newSet(t)
	config := server(t, "test", "server")
	config.EnvKeys = []string{"TOKEN", "BOTH"}
	config.Envs = append(config.Envs, jsonwire.Pair{Name: "BOTH", Value: "own"}, jsonwire.Pair{Name: "INHERITED", Value: ""})
	add(t, s, config)
	if got := written(s.Call(t.Context(), quiet("test__env", `{"names":["TOKEN","BOTH","INHERITED"]}`))); got != `{"type":"text","text":"s3,own,"}` {
		t.Error(got)
	}
}

func TestASetThatIsClosed(t *testing.T) {
	s := connected(t)
	result := waiting(t, t.Context(), s)
	s.Close()
	within(t, "a call", result)
	if err := s.Add(t.Context(), server(t, "y", "server")); !errors.Is(err, mcperror.Closed) {
		t.Errorf("an extension was added: %v", err)
	}
	s.Remove("y")
	s.Close()
}

func TestTheClientsToolsStay(t *testing.T) {
	s := newSet(t)
	instructions := "Use it."
	config := extension.Config{Type: "frontend", Name: "ui", Instructions: &instructions, Tools: []extension.Tool{{Name: "show", InputSchema: json.RawMessage("{}")}}}
	for range 2 {
		add(t, s, config)
	}
	s.Remove("ui")
	snapshot, err := s.Snapshot(t.Context())
	if err != nil || names(snapshot.Frontend) != "show" || snapshot.Tools != nil || snapshot.Instructions[0].Text != "Use it." {
		t.Errorf("%+v, %v", snapshot, err)
	}
	if got := written(s.Call(t.Context(), quiet("ui__show", ""))); got != "error -32603: -32002: ui__show" {
		t.Error(got)
	}
}
