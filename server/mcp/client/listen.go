package client

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// Listen receives what a server sends outside of answers, until the connection ends. MCP has a stream for that, which
// is optional for both sides (2025-03-26, Streamable HTTP, Listening for Messages from the Server).
//
// The library has such a stream too, but not for a connection that is wrapped, as by [rawMessages]. It would also
// delay the start of the connection until the stream's head arrives.
func (x *Client) Listen(read func(ctx context.Context, message func(text []byte) error) error) {
	x.questions.asking.Go(func() {
		if err := read(x.ctx, x.takeApart); err != nil { // a violation of MCP ends the connection, as elsewhere
			x.end(mcperror.Closed)
			_ = x.messages.Connection.Close()
		}
	})
}

// takeApart handles a message that is not part of an answer.
func (x *Client) takeApart(text []byte) error {
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return err
	}
	request, ok := m.(*jsonrpc.Request)
	if !ok {
		return nil // nothing was requested there
	}
	if taken, err := x.take(request); taken || err != nil || !request.IsCall() {
		return err
	}
	return x.questions.answer(request, answerApart(request.Method))
}

// answerApart answers a request outside of answers. The only such request that the library would answer is a ping.
func answerApart(method string) func(json.RawMessage) (json.RawMessage, error) {
	return func(json.RawMessage) (json.RawMessage, error) {
		if method == "ping" {
			return json.RawMessage("{}"), nil
		}
		return nil, rpcError(jsonrpc.CodeMethodNotFound, mcperror.Reason("Method not found: "+method))
	}
}
