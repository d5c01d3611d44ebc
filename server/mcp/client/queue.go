package client

import (
	"context"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A queue limits the size and the time of writes to a process that does not read. Beyond a limit, the connection ends
// (decisions X12, X37).
type queue struct {
	mcp.Connection
	p *Process

	mu      sync.Mutex
	waiting int // bytes of the messages that are being written
}

// Write writes a message, or stops the process, which also fails all pending writes.
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
	// A partly written message cannot be taken back, so a timeout stops the process, which ends the write.
	defer context.AfterFunc(ctx, q.p.Stop)()
	return q.Connection.Write(ctx, m)
}

func (q *queue) add(size int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting += size
	return q.waiting
}

// sizeOf returns the size of a message's content.
func sizeOf(m jsonrpc.Message) int {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return len(m.Params)
	case *jsonrpc.Response:
		return len(m.Result)
	}
	return 0
}
