// Package mcp is an MCP server for scenarios: a target under test starts it as an extension and calls its tools.
//
// Its tools do what clients must be able to handle: they return results, take time and report progress, fail, break the
// protocol, send requests to the client, and return long texts. They use neither chance nor the clock. So two targets
// that make the same calls get the same results.
//
// It communicates over standard input and output, with one JSON-RPC message per line. It supports every version of the
// protocol that its library knows, and the client chooses. It can record what the client sends, see Options.Record.
package mcp

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configure a server. A nil *Options means the zero value.
type Options struct {
	Version string // version in the response to initialize
	// Record is the file for the messages of the client; "" means none. It is created if necessary, and appended to, so
	// that several servers can use it one after the other.
	Record string
	// Getenv returns variables for the tool env. Default: there are no variables.
	Getenv func(string) string
}

// Greeting is the server's only resource.
const Greeting = "lockstep://greeting"

// Serve serves one client until the client closes the connection or the context ends. Both return nil.
func Serve(ctx context.Context, in io.Reader, out io.Writer, options *Options) error {
	var opts Options
	if options != nil {
		opts = *options
	}
	if opts.Getenv == nil {
		opts.Getenv = func(string) string { return "" }
	}
	recorder, err := openRecorder(opts.Record)
	if err != nil {
		return err
	}
	defer recorder.Close()
	transport := &recorded{&mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}}, recorder}
	session, err := newServer(&opts).Connect(ctx, transport, &mcp.ServerSessionOptions{
		State: &mcp.ServerSessionState{LogLevel: "debug"}, // set for clients that do not set a level
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = session.Close()
		<-ended
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, recorder.err)
}

func newServer(opts *Options) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "lockstep", Title: "Tools for scenarios", Version: opts.Version}, &mcp.ServerOptions{
		Instructions: "Call these tools as you are told.",
	})
	for _, t := range tools {
		s.AddTool(&mcp.Tool{Name: t.name, Description: t.doc, InputSchema: t.schema()}, t.handler(opts))
	}
	s.AddResource(&mcp.Resource{
		URI: Greeting, Name: "greeting", Description: "A text that is always the same", MIMEType: "text/plain",
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{greeting()}}, nil
	})
	return s
}

func greeting() *mcp.ResourceContents {
	return &mcp.ResourceContents{URI: Greeting, MIMEType: "text/plain", Text: "Hello from lockstep"}
}

// unclosed is an output that only the caller closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
