package extensions

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/message"
)

// A reason is why something failed, in the words that clients read.
type reason string

func (r reason) Error() string { return string(r) }

const (
	closed  = reason("Connection closed")
	noMCP   = reason("Extension does not speak MCP")
	noName  = reason("Extension has no name")
	badURL  = reason("Invalid URL: http:// or https:// with a host is needed")
	tooMany = reason("Too many extensions")

	noSession = reason("Session not found")

	noTool       = reason("No tool is running")
	onlyForms    = reason("Only forms are supported")
	tooManyAsked = reason("Too many open questions")
	noSampling   = reason("The sampling request cannot be read")

	unreadableAnswer = reason("The answer of the tool cannot be read")
	unreadableTools  = reason("The list of tools cannot be read")
)

// late is the reason of a request that was not answered in time.
func late(timeout time.Duration) reason {
	return reason(fmt.Sprintf("No answer within %d s", int64(timeout/time.Second)))
}

// told is an error that a server has answered (decision X5).
type told string

func (t told) Error() string { return string(t) }

func toldBy(err *jsonrpc.Error) told {
	text := fmt.Sprintf("%d: %s", err.Code, err.Message)
	if data, parsed := jsonwire.Parse(err.Data); parsed == nil && data.Kind() != "null" {
		text += " (" + string(data) + ")"
	}
	return told(text)
}

// failed is the result of a call that has failed: what the server says of it, or why the server says nothing.
func failed(why error) message.Result[[]message.ToolContent] {
	return message.Failure[[]message.ToolContent](errorText(why))
}

// errorText is the error of a request, with its code.
func errorText(why error) string {
	if _, ok := errors.AsType[told](why); ok {
		return why.Error()
	}
	return "-32603: " + why.Error()
}

// rpcError is what a server is answered.
func rpcError(code int64, why error) error { return &jsonrpc.Error{Code: code, Message: why.Error()} }

// object returns a JSON object for a parameter that may be missing.
func object(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}
