// Package developer is the MCP server of the built-in extension developer. It runs commands and edits files for a
// model (GA 28.1, 28.2; decisions X14 to X20, X40 to X46). It runs in a process of its own: `agentd mcp developer`.
package developer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
)

const version = "1.16.0"

// versions are the protocol versions that a client may request. Any other request gets the last one (GA 28.1).
var versions = []string{"2024-11-05", "2025-03-26"}

// A Setting says where a server works.
type Setting struct {
	Directory string   // relative paths start here
	Config    string   // the directory of the user's settings
	Env       []string // in the form of [os.Environ]
}

// getenv returns a variable, or the default if it is missing or empty.
func (s Setting) getenv(name, byDefault string) string {
	for _, variable := range slices.Backward(s.Env) {
		if value, is := strings.CutPrefix(variable, name+"="); is && value != "" {
			return value
		}
	}
	return byDefault
}

// A run answers one call of a tool. Its error becomes an error of the protocol.
type run func(ctx context.Context, c call) ([]mcp.Content, error)

// A call is one call of a tool.
type call struct {
	*arguments.Arguments
	log func(data any) // sends the client a log message during the call
}

// Serve serves one client until it hangs up or the context ends. Neither is an error.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, at Setting) error {
	files := paths{at.Directory, readIgnored(at.Directory)}
	sh := newShell(files, at)
	defer sh.close()
	x := &server{line: &line{Transport: &mcp.IOTransport{Reader: in, Writer: out}}}
	x.ctx, x.cancel = context.WithCancel(ctx)
	s := mcp.NewServer(&mcp.Implementation{Name: "goose-developer", Version: version}, &mcp.ServerOptions{
		Instructions: fmt.Sprintf("The developer extension works with files and commands on this machine.\nOperating system: %s\nCurrent directory: %s\nShell: %s",
			runtime.GOOS, at.Directory, sh.program),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	for name, run := range map[string]run{
		"shell":           sh.run,
		"text_editor":     newEditor(files).run,
		"analyze":         files.analyze,
		"image_processor": files.image,
		"screen_capture":  noDesktop("Failed to access monitors"),
		"list_windows":    noDesktop("Failed to list windows"),
	} {
		x.add(s, name, run)
	}
	s.AddPrompt(unitTest, writeUnitTest)
	s.AddReceivingMiddleware(corrected)
	err := s.Run(ctx, x.line)
	x.cancel()
	x.running.Wait()
	if hungUp(err) || ctx.Err() != nil {
		return nil
	}
	return err
}

// hungUp reports whether an error means that the client has gone: it closed what it writes, or what it reads.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

// corrected changes the library's behaviour where it differs from the specification.
func corrected(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		switch params := request.GetParams().(type) {
		case *mcp.InitializeParams:
			if !slices.Contains(versions, params.ProtocolVersion) {
				params.ProtocolVersion = versions[len(versions)-1]
			}
		case *mcp.CallToolParamsRaw:
			if _, known := tools[params.Name]; !known {
				return nil, invalid("tool not found")
			}
		}
		return next(ctx, method, request)
	}
}

// A server tracks its running calls. It waits for them before it ends, because otherwise their commands would be left
// running.
type server struct {
	line    *line
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (x *server) add(s *mcp.Server, name string, run run) {
	handle := func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x.running.Add(1)
		defer x.running.Done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(x.ctx, cancel)()
		token := request.Params.GetProgressToken()
		c := call{arguments.Parse(request.Params.Arguments, argumentErrors), func(data any) { x.line.log(x.ctx, token, data) }}
		content, err := run(ctx, c)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: content}, nil
	}
	t := tools[name]
	s.AddTool(&mcp.Tool{Name: name, Description: t.description, InputSchema: json.RawMessage(t.schema)}, handle)
}

// A line is the connection to the client. It can send log messages at any time; the library's own function sends none
// before the client asks for them.
type line struct {
	mcp.Transport
	connection mcp.Connection
}

// Connect is called by the library before it accepts requests.
func (l *line) Connect(ctx context.Context) (c mcp.Connection, err error) {
	l.connection, err = l.Transport.Connect(ctx)
	return l.connection, err
}

func (l *line) log(ctx context.Context, token, data any) {
	params := struct {
		Level  string         `json:"level"`
		Logger string         `json:"logger"`
		Data   any            `json:"data"`
		Meta   map[string]any `json:"_meta,omitempty"`
	}{"info", "shell_tool", data, nil}
	if token != nil {
		params.Meta = map[string]any{"progressToken": token}
	}
	raw, err := json.Marshal(params)
	if err == nil {
		_ = l.connection.Write(ctx, &jsonrpc.Request{Method: "notifications/message", Params: raw})
	}
}
