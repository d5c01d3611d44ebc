package developer

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
)

// invalid returns the error of a call with invalid arguments.
func invalid(format string, values ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: arguments.UTF8(fmt.Sprintf(format, values...))}
}

// failed returns the error of a valid call that failed.
func failed(format string, values ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: arguments.UTF8(fmt.Sprintf(format, values...))}
}

// argumentErrors are the errors of calls whose arguments are missing or of the wrong type.
var argumentErrors = arguments.Errors{
	Missing: func(name string) error { return invalid("failed to deserialize parameters: missing field `%s`", name) },
	Invalid: func(name string) error {
		return invalid("failed to deserialize parameters: invalid type of `%s`", name)
	},
}
