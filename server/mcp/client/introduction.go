package client

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// introduction checks the answer to initialize, and returns the protocol version. The error is [mcperror.NotMCP] if a
// part is missing that MCP requires (2025-03-26, InitializeResult). The library does not check that.
func introduction(result json.RawMessage) (version string, err error) {
	v, err := decode.Parse(result)
	if err != nil {
		return "", mcperror.NotMCP
	}
	o := v.Object("protocolVersion", "capabilities", "serverInfo", "instructions")
	version = o.String("protocolVersion")
	o.AnyObject("capabilities")
	o.MaybeString("instructions")
	decode.Field(o, "serverInfo", implementation)
	if o.Err() != nil {
		return "", mcperror.NotMCP
	}
	return version, nil
}

// implementation checks what a server says about itself.
func implementation(v decode.Value) (struct{}, error) {
	o := v.Object("name", "version")
	o.String("name")
	o.String("version")
	return struct{}{}, o.Err()
}

// unannounced rejects a request that the library would answer although the client has not announced the capability
// (decision X1).
func unannounced(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method == "roots/list" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound} // the library adds its own text
		}
		return next(ctx, method, request)
	}
}
