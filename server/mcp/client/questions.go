package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

const tooManyQuestions = mcperror.Reason("Too many open questions")

// aroundRefusal is about the size of a refusal without the ID of its question.
const aroundRefusal = 90

// questions answers the requests of a server, a few of them at the same time, and refuses the others. Refusals are
// queued, because the server may send all its requests before it reads them.
type questions struct {
	ctx    context.Context // ends with the connection
	write  func(ctx context.Context, m jsonrpc.Message) error
	places chan struct{}
	asking sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	refused     []jsonrpc.ID // the first is being written
	refusedSize int
	maxRefused  int // in bytes (decision X12)
}

// answer answers a request of the server when the answer is found. If too many are waiting, it refuses the request.
// The error means that too many refusals are queued.
func (q *questions) answer(request *jsonrpc.Request, find func(params json.RawMessage) (json.RawMessage, error)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return mcperror.Closed
	}
	select {
	case q.places <- struct{}{}:
	default:
		return q.refuse(request.ID)
	}
	q.asking.Go(func() {
		defer func() { <-q.places }()
		result, err := find(request.Params)
		_ = q.write(q.ctx, &jsonrpc.Response{ID: request.ID, Result: result, Error: err})
	})
	return nil
}

// refuse refuses a question. The error means that too many refusals are queued. The caller holds the lock.
func (q *questions) refuse(id jsonrpc.ID) error {
	if q.refusedSize += sizeOfRefusal(id); q.refusedSize > q.maxRefused {
		return tooManyQuestions
	}
	q.refused = append(q.refused, id)
	if len(q.refused) == 1 {
		q.asking.Go(q.sendRefusals)
	}
	return nil
}

// sendRefusals writes refusals until none is left, or the connection ends.
func (q *questions) sendRefusals() {
	why := rpcError(jsonrpc.CodeInternalError, tooManyQuestions)
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.refused) > 0 && q.ctx.Err() == nil {
		id := q.refused[0]
		q.mu.Unlock()
		_ = q.write(q.ctx, &jsonrpc.Response{ID: id, Error: why})
		q.mu.Lock()
		q.refused = q.refused[1:]
		q.refusedSize -= sizeOfRefusal(id)
	}
}

func sizeOfRefusal(id jsonrpc.ID) int { return aroundRefusal + len(fmt.Sprint(id.Raw())) }

// rpcError returns an error answer for a server.
func rpcError(code int64, why error) error { return &jsonrpc.Error{Code: code, Message: why.Error()} }

// close stops the answering of new questions.
func (q *questions) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

func (q *questions) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// wait waits for the answers that are still being found or written.
func (q *questions) wait() { q.asking.Wait() }
