package connector

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// libraryServer has resources, two per page.
func libraryServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	add := func(uri, name string, read mcp.ResourceHandler) {
		s.AddResource(&mcp.Resource{URI: uri, Name: name}, read)
	}
	add("a:text", "Text", func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: "a:text", MIMEType: "text/plain", Text: "hello", Meta: mcp.Meta{"m": 1}}, {URI: "a:more", Blob: []byte("x")},
		}}, nil
	})
	add("b:broken", "Broken", func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, &jsonrpc.Error{Code: -32000, Message: "it is broken"}
	})
	add("c:none", "None", func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}, nil
	})
	return s
}

// shelf is an extension with resources in memory.
type shelf struct {
	list []toolbox.Resource
	err  error
}

func (s *shelf) Tools(context.Context) ([]llm.Tool, error) { return nil, nil }
func (s *shelf) Instructions(context.Context) string       { return "" }
func (s *shelf) Close()                                    {}

func (s *shelf) Call(_ context.Context, _ string, call toolbox.Call) message.ToolResult {
	return mcperror.UnknownTool(call.Name)
}

func (s *shelf) HasResources() bool                                    { return true }
func (s *shelf) Resources(context.Context) ([]toolbox.Resource, error) { return s.list, s.err }

func (s *shelf) Resource(_ context.Context, uri string) ([]message.ToolContent, error) {
	return []message.ToolContent{message.ToolResource{URI: uri, Text: new("of the shelf")}}, s.err
}

func TestResources(t *testing.T) {
	s, _ := managed(t, "{}")
	list := func(arguments, want string) {
		t.Helper()
		if got := said(t, s.Call(t.Context(), quiet("extensionmanager__list_resources", arguments))); got != want {
			t.Errorf("list %s:\n got %s\nwant %s", arguments, got, want)
		}
	}
	read := func(arguments, want string) {
		t.Helper()
		if got := written(s.Call(t.Context(), quiet("extensionmanager__read_resource", arguments))); got != want {
			t.Errorf("read %s:\n got %s\nwant %s", arguments, got, want)
		}
	}
	text := func(text string) string { return `{"type":"text","text":"` + text + `"}` }
	offers := func(want string) {
		t.Helper()
		tools, err := s.ToolsOf(t.Context(), "extensionmanager")
		if got := strings.ReplaceAll(names(tools), "extensionmanager__", ""); got != want || err != nil {
			t.Errorf("offers %s, %v", got, err)
		}
	}
	offers("search_available_extensions manage_extensions")
	list("{}", "No resources.")
	read(`{"uri":"a:text"}`, text("Error: Resource not found: a:text"))

	add(t, s, server(t, "Lib", "library"))
	add(t, s, server(t, "Test", "server"))
	offers("search_available_extensions manage_extensions list_resources read_resource")
	const all = "lib - Text, uri: (a:text)\nlib - Broken, uri: (b:broken)\nlib - None, uri: (c:none)"
	list("", all)
	list(`{"extension_name":"L I B"}`, all)
	list(`{"extension":"lib"}`, all)
	list(`{"extension_name":"test"}`, "No resources.")
	list(`{"extension_name":"x"}`, "Error: Extension not found: x")
	list(`{"extension_name":1}`, "Error: Invalid argument: extension_name")
	const hello = `{"type":"text","text":"a:text\n\nhello"} {"type":"text","text":"a:text\n\n[binary]"}`
	read(`{"uri":"a:text"}`, hello)
	read(`{"uri":"a:text","extension_name":"lib"}`, hello)
	read(`{"uri":"c:none"}`, "")
	read(`{"uri":"b:broken"}`, text("Error: Resource not found: b:broken"))
	read(`{"uri":"b:broken","extension_name":"lib"}`, text("Error: Cannot read b:broken: -32000: it is broken"))
	read(`{"uri":"b:broken","extension_name":"test"}`, text("Error: Resource not found: b:broken"))
	read(`{"uri":"b:broken","extension_name":"x"}`, text("Error: Extension not found: x"))
	read(`{"extension_name":"x"}`, text("Error: Missing required parameter: uri"))
	read(`{"uri":1}`, text("Error: Invalid argument: uri"))

	lost := &shelf{err: mcperror.Closed}
	if _, err := s.put("z", member{lost, extension.Config{}}); err != nil {
		t.Fatal(err)
	}
	list("", all+"\nz: -32603: Connection closed")
	read(`{"uri":"b:broken"}`, text("Error: Resource not found: b:broken"))
	lost.err = nil
	read(`{"uri":"b:broken"}`, text(`b:broken\n\nof the shelf`))
	read(`{"uri":"a:text"}`, hello) // from the first that has it
}

func TestManyResources(t *testing.T) {
	s, _ := managed(t, "{}")
	const maxResources = 1000
	full := &shelf{}
	for i := range maxResources {
		full.list = append(full.list, toolbox.Resource{URI: fmt.Sprint("u", i), Name: "n"})
	}
	for key, m := range map[string]*shelf{"a": full, "b": {}, "c": {err: mcperror.Closed}} {
		if _, err := s.put(key, member{m, extension.Config{}}); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (lines int, last string) {
		all := strings.Split(said(t, s.Call(t.Context(), quiet("extensionmanager__list_resources", ""))), "\n")
		return len(all), all[len(all)-1]
	}
	if n, last := count(); n != maxResources+1 || last != "c: -32603: Connection closed" {
		t.Errorf("%d lines, the last is %q", n, last)
	}
	if _, err := s.put("b", member{&shelf{list: full.list[:1]}, extension.Config{}}); err != nil {
		t.Fatal(err)
	}
	if n, last := count(); n != maxResources+1 || last != "[There are more.]" {
		t.Errorf("%d lines, the last is %q", n, last)
	}
}
