package toolbox

import (
	"context"
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// Clients have the tools that clients of the server run for models (CT 11.6). Their methods are safe for concurrent
// use.
type Clients interface {
	// Tools returns the tools of a client that models may be offered now, in the order of their registration. No two
	// have the same name.
	Tools(clientID string) []ClientTool
	// Check applies the guards of CT 10 to a call, before it runs. A call that may not run has a result; otherwise
	// ask says whether the user has to be asked first.
	Check(call ClientCall) (ask bool, refused *message.ToolResult)
	// Start sends a call to its client, unless it is not sent. wait, which must be called at once, waits for the result, or
	// returns why there is none. When ctx ends, it returns soon, and the client's result is no longer expected.
	Start(call ClientCall) (wait func(ctx context.Context) message.ToolResult, sent bool)
}

// A ClientTool is a tool that a client runs.
type ClientTool struct {
	message.Tool        // its name is the one that models are offered
	ClientID     string // the client that runs it
	ID           string // by which the client knows it
}

// A ClientCall is a model's call of a client's tool.
type ClientCall struct {
	Tool                            ClientTool
	SessionID, MessageID, RequestID string
	Arguments                       json.RawMessage // an object; nil if the model gave none

	// Notify passes on the client's reports of progress; see [Call.Notify]. Check does not need it.
	Notify func(Notification)
	// Over reports whether the model no longer waits, although wait may not have returned yet. Check does not need it.
	Over func() bool
	// Compose calls a tool of the server for the client, while the call waits. Check does not need it.
	Compose func(context.Context, ServerCall) message.ToolResult
}

// A ServerCall is a call of a tool of the server by the client that runs another tool (CT 14.3).
type ServerCall struct {
	RequestID string
	Tool      message.Tool
	Arguments json.RawMessage // an object
}
