// Package mcp is an MCP server for scenarios: what a target under test starts as an extension, and calls tools of.
//
// Its tools do what clients of such servers have to cope with: they answer, take their time and tell how far they are,
// fail, break the protocol, ask back, and say very much. None of them knows chance or the clock, so that two targets which
// ask the same get the same.
//
// It speaks over standard input and output, one JSON-RPC message a line, in every version of the protocol that its library
// knows: the client chooses. What the client sends can be written down, see Options.Record.
package mcp

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say what a server is. A nil *Options means the zero value.
type Options struct {
	Version string // that the server says it has
	// Record is the file that gets what the client sends; "" for none. It is made when it is not there, and appended to:
	// servers that come one after the other can share it.
	Record string
	// Getenv is what the tool env looks variables up with. Default: there are none.
	Getenv func(string) string
}

// Greeting is the server's one resource.
const Greeting = "lockstep://greeting"

// Serve talks to one client, until that hangs up or the context ends, which is no error.
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
		State: &mcp.ServerSessionState{LogLevel: "debug"}, // also to clients that do not ask for a level
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

// unclosed is an output that belongs to somebody else.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
