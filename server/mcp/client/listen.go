package client

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// Listen hears what a server says outside of its answers, until the connection ends. MCP has a stream for that, which a
// client may open and a server need not have (2025-03-26, Streamable HTTP, Listening for Messages from the Server).
//
// The library has one, too, but not for a connection that is wrapped, as by [rawMessages]. It would also
// keep the connection from beginning for as long as the stream's head takes to come.
func (x *Client) Listen(read func(ctx context.Context, message func(text []byte) error) error) {
	x.questions.asking.Go(func() {
		if err := read(x.ctx, x.takeApart); err != nil { // it is not MCP, which ends the connection, as it does anywhere else
			x.end(mcperror.Closed)
			_ = x.messages.Connection.Close()
		}
	})
}

// takeApart takes a message that is no part of an answer.
func (x *Client) takeApart(text []byte) error {
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return err
	}
	request, ok := m.(*jsonrpc.Request)
	if !ok {
		return nil // nothing was asked there
	}
	if taken, err := x.take(request); taken || err != nil || !request.IsCall() {
		return err
	}
	return x.questions.answer(request, answerApart(request.Method))
}

// answerApart answers a request that comes outside of answers. All that the library would answer is a ping.
func answerApart(method string) func(json.RawMessage) (json.RawMessage, error) {
	return func(json.RawMessage) (json.RawMessage, error) {
		if method == "ping" {
			return json.RawMessage("{}"), nil
		}
		return nil, rpcError(jsonrpc.CodeMethodNotFound, mcperror.Reason("Method not found: "+method))
	}
}
