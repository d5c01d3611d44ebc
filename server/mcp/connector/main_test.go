package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/mcp/developer"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// role makes the test binary one of the servers that it talks to.
const role = "EXTENSIONS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		if slices.Equal(os.Args[1:], []string{"mcp", "developer"}) {
			directory, _ := os.Getwd()
			if developer.Serve(context.Background(), os.Stdin, os.Stdout, developer.Setting{Directory: directory}) != nil {
				os.Exit(1)
			}
			return
		}
		os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would delay the end of each process by a second
		os.Exit(leak.Run(m))
	case "server":
		if err := testServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	case "library":
		if err := libraryServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	case "sampler":
		if err := samplingServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	case "gone":
		fmt.Fprintln(os.Stderr, "no such luck")
		os.Exit(3)
	case "mute":
		select {}
	case "scripted":
		followScript(os.Stdin, os.Stdout)
	case "chatty":
		fmt.Println("Welcome!")
		select {}
	case "halting":
		fmt.Println(`{"jsonrpc":"2.0","id":1,`)
		select {}
	case "refusing":
		fmt.Println(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not today","data":{"b":1.0,"a":2}}}`)
		select {}
	case "futuristic":
		fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`)
		select {}
	}
}

// testServer has a tool for everything that a server can do while a tool runs.
func testServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{Instructions: "Be gentle."})
	add := func(name, schema string, run mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Does " + name, InputSchema: json.RawMessage(schema)}, run)
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	const empty = `{"type":"object"}`
	add("echo", `{"type":"object","properties":{"z":{},"a":{"const":1.0}}}`, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	add("fail", empty, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := text("it failed")
		result.IsError = true
		return result, nil
	})
	add("explode", empty, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: -32000, Message: "it exploded", Data: json.RawMessage(`{"z":1,"a":[]}`)}
	})
	add("tell", empty, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2})
		//lint:ignore SA1019 current servers send log messages
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Logger: "l", Data: map[string]any{"k": 1}})
		return text("told"), nil
	})
	add("ask", empty, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return text(err.Error()), nil
		}
		return text(answer.Action + " " + string(jsonwire.Marshal(answer.Content))), nil
	})
	add("wait", empty, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 current servers send log messages
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: "waiting"})
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("exit", empty, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		os.Exit(0)
		return nil, nil
	})
	add("env", empty, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var arguments struct{ Names []string }
		_ = json.Unmarshal(r.Params.Arguments, &arguments)
		var values []string
		for _, name := range arguments.Names {
			values = append(values, os.Getenv(name))
		}
		return text(strings.Join(values, ",")), nil
	})
	add("many", empty, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png", Meta: mcp.Meta{"m": 1}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "a:b", Text: "t"}},
			&mcp.ResourceLink{URI: "a:c", Name: "n", Annotations: &mcp.Annotations{Audience: []mcp.Role{"user"}}},
		}, StructuredContent: map[string]any{"x": 1}}, nil
	})
	return s
}

// secrets are secrets for tests.
type secrets map[string]string

func (s secrets) Secret(key string) (json.RawMessage, error) { return json.RawMessage(s[key]), nil }

// sessions are working directories for tests, by session ID.
type sessions map[string]string

func (s sessions) Session(_ context.Context, id string) (session.Session, error) {
	directory, ok := s[id]
	if !ok {
		return session.Session{}, errors.New("there is none")
	}
	return session.Session{WorkingDir: directory}, nil
}

func (s sessions) Load(ctx context.Context, id string) (session.Session, error) {
	return s.Session(ctx, id)
}

func (s sessions) Recent(context.Context) ([]string, error) { return nil, nil }

// maxInTests is the maximum size of a message in tests, because large messages would take too long.
const maxInTests = 200_000

// graceInTests is the grace period of processes in tests, because a second would take too long.
const graceInTests = 100 * time.Millisecond

// newSet returns a set that is closed at the end of the test.
func newSet(t *testing.T) *Set {
	t.Helper()
	c := &Connector{
		Secrets:     secrets{"TOKEN": `"s3"`, "BOTH": `"secret"`, "NUMBER": `7`},
		Sessions:    sessions{"x": t.TempDir()},
		Executable:  os.Args[0],
		Directory:   t.TempDir(),
		Environment: append(os.Environ(), "GOOSE_SERVER__SECRET_KEY=k", "INHERITED=i"),
		MaxMessage:  maxInTests,
		Grace:       graceInTests,
		Log:         slog.New(slog.DiscardHandler),
	}
	s := c.NewSet("x")
	t.Cleanup(s.Close)
	return s
}

// server returns the configuration of a server that runs this test binary.
func server(t *testing.T, name, plays string) extension.Config {
	t.Helper()
	path := testfile.Program(t)
	return extension.Config{Type: "stdio", Name: name, Cmd: path, Envs: jsonwire.Pairs{{Name: role, Value: plays}}}
}

// connected returns a set with the test server as "test".
func connected(t *testing.T) *Set {
	t.Helper()
	s := newSet(t)
	add(t, s, server(t, "Test", "server"))
	return s
}

const patience = 20 * time.Second
