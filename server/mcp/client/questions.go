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

// aroundRefusal is about how long a refusal is but for the id of its question.
const aroundRefusal = 90

// questions answers the requests of a server: each when there is an answer, a few of them at a time. It refuses the others.
// Refusals wait until the server reads them, which may first want to ask all that it has to ask.
type questions struct {
	ctx    context.Context // ends with the connection
	write  func(ctx context.Context, m jsonrpc.Message) error
	places chan struct{}
	asking sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	refused     []jsonrpc.ID // the first is being written
	refusedSize int
	maxRefused  int // bytes (decision X12)
}

// answer answers a request of the server when there is something to say. If too many are waiting it is refused. The error is
// that too many refusals wait.
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

// refuse refuses a question. The error is that too many refusals wait. The lock is held.
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

// rpcError is what a server is answered.
func rpcError(code int64, why error) error { return &jsonrpc.Error{Code: code, Message: why.Error()} }

// close keeps new questions from being answered.
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

// wait waits for the answers that are on their way.
func (q *questions) wait() { q.asking.Wait() }
