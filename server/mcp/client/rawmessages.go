package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// rawMessages wraps the library's connection. It keeps awaited answers as they arrived. It also handles the server's
// own messages, which the library then does not see.
type rawMessages struct {
	mcp.Connection
	fromServer func(request *jsonrpc.Request) (taken bool, err error)

	greeting *answer // the answer to initialize
	agreed   func(version string)
	ended    func() // called when nothing can be read any more

	mu      sync.Mutex
	awaited map[jsonrpc.ID]*answer
	broken  error // why nothing can be read any more
}

// An answer is the answer to a request.
type answer struct {
	there  bool
	result json.RawMessage
	err    error // the server's error, instead of a result
}

type awaitKey struct{}

// callKey is the context key that says whether a written message expects an answer.
type callKey struct{}

// expectsAnswer reports whether the message that is written with a context expects an answer.
func expectsAnswer(ctx context.Context) bool {
	expects, _ := ctx.Value(callKey{}).(bool)
	return expects
}

// await returns a context for one request, whose answer will be kept.
func await(ctx context.Context) (context.Context, *answer) {
	a := &answer{}
	return context.WithValue(ctx, awaitKey{}, a), a
}

// Write writes a message, and records whose answer is awaited.
func (r *rawMessages) Write(ctx context.Context, m jsonrpc.Message) error {
	request, ok := m.(*jsonrpc.Request)
	isCall := ok && request.IsCall()
	if isCall {
		if a, ok := ctx.Value(awaitKey{}).(*answer); ok {
			r.mu.Lock()
			r.awaited[request.ID] = a
			r.mu.Unlock()
		}
	}
	return r.Connection.Write(context.WithValue(ctx, callKey{}, isCall), m)
}

// Read returns the next message for the library.
func (r *rawMessages) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := r.Connection.Read(ctx)
		taken := false
		if err == nil {
			taken, err = r.take(m)
		}
		if err != nil {
			r.mu.Lock()
			r.broken = err
			r.mu.Unlock()
			r.ended()
			return nil, err
		}
		if !taken {
			return m, nil
		}
	}
}

// take handles a message, and reports whether it is not for the library. An error ends the connection.
func (r *rawMessages) take(m jsonrpc.Message) (taken bool, err error) {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return r.fromServer(m)
	case *jsonrpc.Response:
		return false, r.keep(m)
	}
	return false, nil
}

// keep keeps an awaited answer. It returns an error if the server's handshake violates MCP.
func (r *rawMessages) keep(answered *jsonrpc.Response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.awaited[answered.ID]
	if !ok {
		return nil
	}
	*a = answer{there: true, result: answered.Result, err: answered.Error}
	delete(r.awaited, answered.ID)
	if a != r.greeting || answered.Error != nil {
		return nil
	}
	version, err := introduction(answered.Result)
	if err == nil {
		r.agreed(version)
	}
	return err
}

// forget returns an answer in its current state, and stops awaiting it.
func (r *rawMessages) forget(a *answer) answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, other := range r.awaited {
		if other == a {
			delete(r.awaited, id)
		}
	}
	return *a
}

// lost says how the connection ended: the server ended it, or sent something invalid.
func (r *rawMessages) lost() mcperror.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.broken == nil, errors.Is(r.broken, io.EOF), errors.Is(r.broken, io.ErrUnexpectedEOF), errors.Is(r.broken, io.ErrClosedPipe),
		errors.Is(r.broken, os.ErrClosed): // closed by this side, because the server does not read
		return mcperror.Closed
	}
	return mcperror.NotMCP
}

// recorded is a transport whose messages are kept.
type recorded struct {
	mcp.Transport
	messages *rawMessages
}

func (t recorded) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.messages.Connection = c
	return t.messages, nil
}
