package extensions

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// aroundRefusal is about how long a refusal is but for the id of its question.
const aroundRefusal = 90

// Refusals answer questions that have no place. They wait until the server takes them, which may first want to ask all that
// it has to ask. The mutex of the client is over them.
type refusals struct {
	refused []jsonrpc.ID // the first is being written
	size    int
	max     int // bytes (decision X12)
}

// refuse refuses a question. The error is that too many refusals wait. The client must be locked.
func (x *client) refuse(id jsonrpc.ID) error {
	if x.size += sizeOfRefusal(id); x.size > x.max {
		return tooManyAsked
	}
	x.refused = append(x.refused, id)
	if len(x.refused) == 1 {
		x.asking.Go(x.sendRefusals)
	}
	return nil
}

// sendRefusals writes refusals until none is left, or the connection ends.
func (x *client) sendRefusals() {
	why := rpcError(jsonrpc.CodeInternalError, tooManyAsked)
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.refused) > 0 && x.ctx.Err() == nil {
		id := x.refused[0]
		x.mu.Unlock()
		_ = x.tap.Connection.Write(x.ctx, &jsonrpc.Response{ID: id, Error: why})
		x.mu.Lock()
		x.refused = x.refused[1:]
		x.size -= sizeOfRefusal(id)
	}
}

func sizeOfRefusal(id jsonrpc.ID) int { return aroundRefusal + len(fmt.Sprint(id.Raw())) }
