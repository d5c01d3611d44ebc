package transport

import (
	"context"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A queue bounds what waits for a process that does not read, and how long: beyond it, the connection ends (decisions X12,
// X37).
type queue struct {
	mcp.Connection
	p *Process

	mu      sync.Mutex
	waiting int // bytes of the messages that are being written
}

// Write writes a message, or ends the process, which takes with it what is being written.
func (q *queue) Write(ctx context.Context, m jsonrpc.Message) error {
	size := sizeOf(m)
	if q.add(size) > q.p.MaxMessage+aroundMessage {
		q.add(-size)
		go q.p.Stop()
		return os.ErrClosed
	}
	defer q.add(-size)
	ctx, cancel := context.WithTimeout(ctx, q.p.Timeout)
	defer cancel()
	// Half a message cannot be taken back. The end of the process ends the writing.
	defer context.AfterFunc(ctx, q.p.Stop)()
	return q.Connection.Write(ctx, m)
}

func (q *queue) add(size int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting += size
	return q.waiting
}

// sizeOf is the length of the content of a message.
func sizeOf(m jsonrpc.Message) int {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return len(m.Params)
	case *jsonrpc.Response:
		return len(m.Result)
	}
	return 0
}
