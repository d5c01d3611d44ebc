// Package developer is the MCP server behind the built-in extension developer: it runs commands and edits files for a model
// (decisions X14 to X20). It runs as a process of its own, `agentd mcp developer`.
package developer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/encoding/unicode"
)

const (
	version      = "1.16.0"
	instructions = "The tool shell runs commands, the tool text_editor reads and changes files. Relative paths count from the working directory."
)

// A tool is one as clients see it (decision X15).
type tool struct{ name, description, schema string }

var (
	shellTool  = tool{"shell", "Runs a command in bash and returns what it prints.", `{"type":"object","properties":{"command":{"type":"string","description":"The command"}},"required":["command"]}`}
	editorTool = tool{"text_editor", "Views, writes and changes text files.", `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"The path of the file"},` +
		`"command":{"type":"string","enum":["view","write","str_replace","insert","undo_edit"]},` +
		`"file_text":{"type":"string","description":"write: the new content"},` +
		`"old_str":{"type":"string","description":"str_replace: the text that goes"},` +
		`"new_str":{"type":"string","description":"str_replace, insert: the text that comes"},` +
		`"insert_line":{"type":"integer","description":"insert: the line behind which the text comes, 0 for the beginning"},` +
		`"view_range":{"type":"array","items":{"type":"integer"},"description":"view: the first and the last line, -1 for the end"}` +
		`},"required":["command","path"]}`}
)

// A fault is what a tool says when it fails.
type fault string

func (f fault) Error() string { return string(f) }

// Serve talks to one client until that hangs up or the context ends, which is no error. Relative paths count from the
// directory.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, directory string) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "developer", Version: version}, &mcp.ServerOptions{Instructions: instructions})
	calls := &calls{}
	calls.ctx, calls.cancel = context.WithCancel(ctx)
	calls.add(s, shellTool, shell{directory}.run)
	calls.add(s, editorTool, newEditor(directory).run)
	err := s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	calls.cancel()
	calls.running.Wait()
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// calls are those that run. They end before the server does: otherwise commands would be left.
type calls struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// add adds a tool. What its run returns is the answer, and with an error the answer of a failure.
func (c *calls) add(s *mcp.Server, t tool, run func(ctx context.Context, a arguments) (string, error)) {
	handle := func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c.running.Add(1)
		defer c.running.Done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		text, err := run(ctx, argumentsOf(request.Params.Arguments))
		if err != nil {
			text = err.Error()
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: utf8(text)}}, IsError: err != nil}, nil
	}
	s.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.schema)}, handle)
}

// utf8 puts U+FFFD in the place of bytes that are no UTF-8.
func utf8(text string) string {
	valid, err := unicode.UTF8.NewDecoder().String(text)
	if err != nil {
		return text
	}
	return valid
}
