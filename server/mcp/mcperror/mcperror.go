// Package mcperror defines the errors of extensions, with the texts that clients and models read.
package mcperror

import (
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Reason says why something failed, in a text that clients read.
type Reason string

func (r Reason) Error() string { return string(r) }

const (
	// Closed means that the connection has ended.
	Closed = Reason("Connection closed")
	// NotMCP means that the server sent something that violates MCP.
	NotMCP = Reason("Extension does not speak MCP")
	// NotSignedIn means that the server has rejected the token of the user.
	NotSignedIn = Reason("Not signed in")
	// UnreadableResult means that the result of a request violates MCP.
	UnreadableResult = Reason("The answer of the tool cannot be read")
)

// Late means that a request was not answered in time.
func Late(timeout time.Duration) Reason {
	return Reason(fmt.Sprintf("No answer within %d s", int64(timeout/time.Second)))
}

// A serverError is an error that the server has answered with (decision X5).
type serverError string

func (e serverError) Error() string { return string(e) }

// FromServer returns the error for an error answer of a server.
func FromServer(err *jsonrpc.Error) error {
	text := fmt.Sprintf("%d: %s", err.Code, err.Message)
	if data, parsed := jsonwire.Parse(err.Data); parsed == nil && data.Kind() != "null" {
		text += " (" + string(data) + ")"
	}
	return serverError(text)
}

// Result returns the result of a failed call. why is the server's error, or the reason why there is no answer.
func Result(why error) message.ToolResult {
	return message.FailedResult(Text(why))
}

// Text returns the text of a request's error, with its code.
func Text(why error) string {
	if _, ok := errors.AsType[serverError](why); ok {
		return why.Error()
	}
	return "-32603: " + why.Error()
}

// UnknownTool returns the result of calling a tool that does not exist (GA 7.8).
func UnknownTool(name string) message.ToolResult { return Result(Reason("-32002: " + name)) }

// UnavailableTool returns the result of calling a tool that the configuration of its extension leaves out (decision X3).
func UnavailableTool(name string) message.ToolResult {
	return Result(Reason("-32002: Tool not available: " + name))
}
