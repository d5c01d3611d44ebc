package client

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// These are the reasons why an MCP server gets no answer from the user or the model.
const (
	noTool    = mcperror.Reason("No tool is running")
	onlyForms = mcperror.Reason("Only forms are supported")
)

// elicit asks the user, on behalf of the oldest running call (decision X9).
func (x *Client) elicit(params json.RawMessage) (json.RawMessage, error) {
	v, err := decode.Parse(params)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, err)
	}
	o := v.Object("mode", "message", "requestedSchema")
	if mode := o.MaybeString("mode"); mode != nil && *mode != "form" {
		return nil, rpcError(jsonrpc.CodeInvalidParams, onlyForms)
	}
	text, schema := o.String("message"), o.AnyObject("requestedSchema")
	if err := o.Err(); err != nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, err)
	}
	r := x.running.first()
	if r == nil {
		return nil, rpcError(jsonrpc.CodeInternalError, noTool)
	}
	said, err := r.Elicit(r.ctx, text, schema)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInternalError, err)
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("action").String("accept")
	w.Name("content").Raw(said)
	w.Close('}')
	return json.RawMessage(w.Text()), nil
}
