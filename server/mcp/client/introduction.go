package client

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// introduction returns the version of the protocol in the answer to initialize. The error is [mcperror.NotMCP] if something is missing
// that MCP demands (2025-03-26, InitializeResult): the library goes without.
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

// implementation looks at what a server says of itself.
func implementation(v decode.Value) (struct{}, error) {
	o := v.Object("name", "version")
	o.String("name")
	o.String("version")
	return struct{}{}, o.Err()
}

// unannounced refuses a request that the library would answer although nothing of it was announced (decision X1).
func unannounced(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method == "roots/list" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound} // in the words of the library
		}
		return next(ctx, method, request)
	}
}
