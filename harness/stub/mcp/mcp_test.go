package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// old and current are versions of the protocol: old has initialize, current does not.
const old, current = "2025-11-25", "2026-07-28"

// A guest is a client in a test, with the messages that it has received.
type guest struct {
	*mcp.ClientSession
	heard []string
}

// visit runs a server for a client that speaks a protocol version, and disconnects at the end.
func visit(t *testing.T, version string, options *Options, f func(*guest)) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), in, out, options)
		out.Close()
	}()
	g := &guest{}
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			g.heard = append(g.heard, fmt.Sprintf("progress %v %v/%v %s%s", r.Params.ProgressToken, r.Params.Progress, r.Params.Total, r.Params.Message, about(r.Params.Meta)))
		},
		//lint:ignore SA1019 as in slow
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			g.heard = append(g.heard, fmt.Sprintf("log %s %s %v%s", r.Params.Level, r.Params.Logger, r.Params.Data, about(r.Params.Meta)))
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			g.heard = append(g.heard, "asked "+r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "42"}}, nil
		},
		//lint:ignore SA1019 as in sample
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			said := fmt.Sprintf("%d: %s", r.Params.MaxTokens, r.Params.Messages[0].Content.(*mcp.TextContent).Text)
			//lint:ignore SA1019 as in sample
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: said}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	g.ClientSession = session
	f(g)
	session.Close()
	toServer.Close()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// says calls a tool and returns the text of its result.
func (g *guest) says(t *testing.T, tool, arguments string) string {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool}
	if arguments != "" {
		params.Arguments = json.RawMessage(arguments)
	}
	params.SetProgressToken("p")
	result, err := g.CallTool(t.Context(), params)
	if err != nil {
		return "protocol: " + err.Error()
	}
	var parts []string
	for _, c := range result.Content {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := c.(*mcp.TextContent); ok {
			data = []byte(text.Text)
		}
		parts = append(parts, string(data))
	}
	out := strings.Join(parts, " | ")
	if result.IsError {
		out = "error: " + out
	}
	return out
}

func TestToolsDoWhatTheyAreFor(t *testing.T) {
	options := &Options{Version: "1", Getenv: func(name string) string { return map[string]string{"HOME": "/home/me"}[name] }}
	for _, tc := range []struct{ tool, arguments, want string }{
		{"echo", `{"b":1.0,"a":12345678901234567890,"c":"ü"}`, `{"b":1.0,"a":12345678901234567890,"c":"ü"}`},
		{"echo", ``, `{}`},
		{"slow", `{"steps":2,"pace":1}`, "done: 2 of 2"},
		{"slow", `{"steps":1,"pace":1,"text":"well"}`, "well"},
		{"slow", `{"steps":"many"}`, "protocol: calling \"tools/call\": arguments of slow: json: cannot unmarshal string into Go struct field arguments.steps of type int"},
		{"fail", `{}`, "error: it failed"},
		{"fail", `{"text":"no"}`, "error: no"},
		{"explode", `{}`, `protocol: calling "tools/call": it exploded`},
		{"explode", `{"code":-32001,"message":"boom"}`, `protocol: calling "tools/call": boom`},
		{"ask", `{"message":"Why?"}`, `{"action":"accept","content":{"answer":"42"}}`},
		{"sample", ``, `{"content":{"type":"text","text":"100: Say something."},"model":"m","role":"assistant"}`},
		{"sample", `{"request":{"messages":[{"role":"user","content":[{"type":"text","text":"Why?"}]}],"maxTokens":7}}`,
			`{"content":{"type":"text","text":"7: Why?"},"model":"m","role":"assistant"}`},
		{"sample", `{"request":[]}`, "protocol: calling \"tools/call\": request of sample: json: cannot unmarshal array into Go value of type mcp.CreateMessageWithToolsParams"},
		{"big", `{"characters":3}`, "xxx"},
		{"big", ``, strings.Repeat("x", 1000)},
		{"env", `{"name":"HOME"}`, "/home/me"},
		{"env", `{"name":"NONE"}`, "error: NONE is not set"},
		{"image", ``, `a pixel | {"type":"image","mimeType":"image/png","data":"` + pixel + `"}`},
		{"resource", ``, `{"type":"resource","resource":{"uri":"lockstep://greeting","mimeType":"text/plain","text":"Hello from lockstep"}} | ` +
			`{"type":"resource_link","mimeType":"text/plain","uri":"lockstep://greeting","name":"greeting"}`},
		{"none", ``, `protocol: calling "tools/call": unknown tool "none"`},
	} {
		for _, version := range []string{old, current} {
			t.Run(tc.tool+tc.arguments+version, func(t *testing.T) {
				visit(t, version, options, func(g *guest) {
					if got := g.says(t, tc.tool, tc.arguments); got != tc.want {
						t.Errorf("%s %s: %q, want %q", tc.tool, tc.arguments, got, tc.want)
					}
				})
			})
		}
	}
}

func TestASlowToolReportsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visit(t, old, nil, func(g *guest) {
			began := time.Now()
			g.says(t, "slow", `{"steps":2,"pace":1500}`)
			if took := time.Since(began); took != 3*time.Second {
				t.Errorf("it took %s", took)
			}
			synctest.Wait()
			want := []string{"progress p 1/2 step 1 of 2", "log info slow step 1 of 2", "progress p 2/2 step 2 of 2", "log info slow step 2 of 2"}
			if diff := cmp.Diff(want, g.heard); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	})
}

func TestASlowToolSendsTheConfiguredMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visit(t, old, nil, func(g *guest) {
			g.says(t, "slow", `{"steps":1,"level":"alert","meta":{"a":1}}`)
			synctest.Wait()
			want := []string{"progress p 1/1 step 1 of 1 about map[a:1]", "log alert slow step 1 of 1 about map[a:1]"}
			if diff := cmp.Diff(want, g.heard); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	})
}

// about describes the metadata of a notification.
func about(meta mcp.Meta) string {
	if len(meta) == 0 {
		return ""
	}
	return fmt.Sprintf(" about %v", meta)
}

func TestTheServerListsToolsAndItsResource(t *testing.T) {
	visit(t, old, &Options{Version: "7"}, func(g *guest) {
		if got := g.InitializeResult(); got.ServerInfo.Name != "lockstep" || got.ServerInfo.Version != "7" || got.ProtocolVersion != old {
			t.Errorf("it is %+v of %s", got.ServerInfo, got.ProtocolVersion)
		}
		list, err := g.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != len(tools) {
			t.Errorf("%d tools, want %d", len(list.Tools), len(tools))
		}
		read, err := g.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: Greeting})
		if err != nil || len(read.Contents) != 1 || read.Contents[0].Text != "Hello from lockstep" {
			t.Errorf("resource %+v, %v", read, err)
		}
	})
}

func TestMessagesOfTheClientAreRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "record")
	for range 2 { // the second run appends
		visit(t, old, &Options{Record: file}, func(g *guest) {
			g.says(t, "ask", `{"message":"1 < 2?","n":1.0}`)
		})
	}
	data := testfile.Read(t, file)
	messages, err := record.Read(bytes.NewReader(data), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range messages {
		if time.Since(m.At) > time.Minute {
			t.Errorf("it came at %s", m.At)
		}
		got = append(got, m.Method+" "+string(m.Body))
	}
	want := []string{
		`initialize {"clientInfo":{"name":"guest","version":"1"},"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"elicitation":{"form":{}},"roots":{"listChanged":true}}}`,
		"notifications/initialized {}",
		`tools/call {"_meta":{"progressToken":"p"},"name":"ask","arguments":{"message":"1 < 2?","n":1.0}}`,
		` {"action":"accept","content":{"answer":"42"}}`,
	}
	if diff := cmp.Diff(append(want, want...), got); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestErrorsOfTheClientAreRecordedCompletely(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&jsonrpc.Error{Code: -32603, Message: "no form"}, `{"error":{"code":-32603,"message":"no form"}}`},
		{&jsonrpc.Error{Code: -32001, Message: "no", Data: json.RawMessage(`{"n":1.0}`)}, `{"error":{"code":-32001,"message":"no","data":{"n":1.0}}}`},
		{errors.New("torn"), `{"error":{"code":0,"message":"torn"}}`},
	} {
		file := filepath.Join(t.TempDir(), "record")
		r, err := openRecorder(file)
		if err != nil {
			t.Fatal(err)
		}
		r.add(&jsonrpc.Response{Error: tc.err})
		r.Close()
		data := testfile.Read(t, file)
		if messages, err := record.Read(bytes.NewReader(data), 1<<20); err != nil || len(messages) != 1 || string(messages[0].Body) != tc.want {
			t.Errorf("%v: %s, %v, want %s", tc.err, data, err, tc.want)
		}
	}
}

func TestARecordThatCannotBeWrittenIsReported(t *testing.T) {
	err := Serve(t.Context(), strings.NewReader(""), io.Discard, &Options{Record: t.TempDir()})
	if err == nil || !strings.HasPrefix(err.Error(), "record: open ") {
		t.Errorf("Serve: %v", err)
	}
}

func TestTheEndOfItsContextEndsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, toServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, in, io.Discard, nil) }()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	toServer.Close() // ends the reader
}
