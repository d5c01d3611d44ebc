// Package mcperror has the errors of extensions, in the words that clients and models read.
package mcperror

import (
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Reason is why something failed, in the words that clients read.
type Reason string

func (r Reason) Error() string { return string(r) }

const (
	// Closed is the reason when the connection has ended.
	Closed = Reason("Connection closed")
	// NotMCP is the reason when what a server sends is not what MCP demands.
	NotMCP = Reason("Extension does not speak MCP")
	// UnreadableResult is the reason when the result of a request is not what MCP demands.
	UnreadableResult = Reason("The answer of the tool cannot be read")
)

// Late is the reason of a request that was not answered in time.
func Late(timeout time.Duration) Reason {
	return Reason(fmt.Sprintf("No answer within %d s", int64(timeout/time.Second)))
}

// A serverError is an error that a server has answered with (decision X5).
type serverError string

func (e serverError) Error() string { return string(e) }

// FromServer returns the error that a server has answered with.
func FromServer(err *jsonrpc.Error) error {
	text := fmt.Sprintf("%d: %s", err.Code, err.Message)
	if data, parsed := jsonwire.Parse(err.Data); parsed == nil && data.Kind() != "null" {
		text += " (" + string(data) + ")"
	}
	return serverError(text)
}

// Result is the result of a call that has failed: the error of the server, or why there is no answer.
func Result(why error) message.ToolResult {
	return message.FailedResult(Text(why))
}

// Text is the text of the error of a request, with its code.
func Text(why error) string {
	if _, ok := errors.AsType[serverError](why); ok {
		return why.Error()
	}
	return "-32603: " + why.Error()
}

// UnknownTool is the result of a call of a tool that does not exist (GA 7.8).
func UnknownTool(name string) message.ToolResult { return Result(Reason("-32002: " + name)) }
