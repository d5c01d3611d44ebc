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

// rawMessages wrap the connection of the library. They keep the answers that are awaited as they came, and hand over
// what a server says of its own accord, which the library then does not see.
type rawMessages struct {
	mcp.Connection
	fromServer func(request *jsonrpc.Request) (taken bool, err error)

	greeting *answer // to initialize
	agreed   func(version string)
	ended    func() // nothing can be read any more

	mu      sync.Mutex
	awaited map[jsonrpc.ID]*answer
	broken  error // why nothing can be read any more
}

// An answer is one to a request.
type answer struct {
	there  bool
	result json.RawMessage
	err    error // what the server says instead of a result
}

type awaitKey struct{}

// callKey is of the context of a message that is written: whether an answer is wanted.
type callKey struct{}

// IsCall reports whether a message that is written with a context wants an answer.
func IsCall(ctx context.Context) bool {
	isCall, _ := ctx.Value(callKey{}).(bool)
	return isCall
}

// await returns a context whose request's answer is kept. It must be of one request.
func await(ctx context.Context) (context.Context, *answer) {
	a := &answer{}
	return context.WithValue(ctx, awaitKey{}, a), a
}

// Write notes whose answer is awaited.
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

// Read returns the next message that is for the library.
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

// take looks at a message, and says whether it is not for the library. The error is the end of the connection.
func (r *rawMessages) take(m jsonrpc.Message) (taken bool, err error) {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return r.fromServer(m)
	case *jsonrpc.Response:
		return false, r.keep(m)
	}
	return false, nil
}

// keep keeps an answer that is awaited. The error is that the server has not introduced itself as MCP has it.
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

// forget returns an answer as it is now, and awaits it no longer.
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

// lost says how the connection has ended: with the end of what the server says, or with something else.
func (r *rawMessages) lost() mcperror.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.broken == nil, errors.Is(r.broken, io.EOF), errors.Is(r.broken, io.ErrUnexpectedEOF), errors.Is(r.broken, io.ErrClosedPipe),
		errors.Is(r.broken, os.ErrClosed): // by ourselves, because the server does not read
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
