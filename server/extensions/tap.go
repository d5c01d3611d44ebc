package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tap stands between the library and a connection. The library reads messages into its own types, which lose the order of
// members and the digits of numbers; the tap keeps what is awaited as it came, and hands over what a server says of its own
// accord, which the library then does not see.
type tap struct {
	mcp.Connection
	heard func(request *jsonrpc.Request) (taken bool, err error)

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

// await returns a context whose request's answer is kept. It must be of one request.
func await(ctx context.Context) (context.Context, *answer) {
	a := &answer{}
	return context.WithValue(ctx, awaitKey{}, a), a
}

// Write notes whose answer is awaited.
func (t *tap) Write(ctx context.Context, m jsonrpc.Message) error {
	request, ok := m.(*jsonrpc.Request)
	isCall := ok && request.IsCall()
	if isCall {
		if a, ok := ctx.Value(awaitKey{}).(*answer); ok {
			t.mu.Lock()
			t.awaited[request.ID] = a
			t.mu.Unlock()
		}
	}
	return t.Connection.Write(context.WithValue(ctx, callKey{}, isCall), m)
}

// Read returns the next message that is for the library.
func (t *tap) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := t.Connection.Read(ctx)
		taken := false
		if err == nil {
			taken, err = t.take(m)
		}
		if err != nil {
			t.mu.Lock()
			t.broken = err
			t.mu.Unlock()
			t.ended()
			return nil, err
		}
		if !taken {
			return m, nil
		}
	}
}

// take looks at a message, and says whether it is not for the library. The error is the end of the connection.
func (t *tap) take(m jsonrpc.Message) (taken bool, err error) {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return t.heard(m)
	case *jsonrpc.Response:
		return false, t.keep(m)
	}
	return false, nil
}

// keep keeps an answer that is awaited. The error is that the server has not introduced itself as MCP has it.
func (t *tap) keep(r *jsonrpc.Response) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.awaited[r.ID]
	if !ok {
		return nil
	}
	*a = answer{there: true, result: r.Result, err: r.Error}
	delete(t.awaited, r.ID)
	if a != t.greeting || r.Error != nil {
		return nil
	}
	version, err := introduction(r.Result)
	if err == nil {
		t.agreed(version)
	}
	return err
}

// forget returns an answer as it is now, and awaits it no longer.
func (t *tap) forget(a *answer) answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, other := range t.awaited {
		if other == a {
			delete(t.awaited, id)
		}
	}
	return *a
}

// lost says how the connection has ended: with the end of what the server says, or with something else.
func (t *tap) lost() reason {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.broken == nil, errors.Is(t.broken, io.EOF), errors.Is(t.broken, io.ErrUnexpectedEOF), errors.Is(t.broken, io.ErrClosedPipe),
		errors.Is(t.broken, os.ErrClosed): // by ourselves, because nobody reads what we write
		return closed
	}
	return noMCP
}

// tapped is a transport whose connection has a tap.
type tapped struct {
	mcp.Transport
	tap *tap
}

func (t tapped) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.tap.Connection = c
	return t.tap, nil
}
