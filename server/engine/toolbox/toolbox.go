// Package toolbox is the interface between a turn of the model and the tools of extensions: what they offer, and what
// a call may do while it runs.
package toolbox

import (
	"context"
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// A Toolbox holds the tools of one agent's extensions. It is safe for concurrent use.
type Toolbox interface {
	// Snapshot returns what the extensions offer now.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Call runs a tool. For an unknown tool, the result says so. It returns soon after its context ends.
	Call(ctx context.Context, call Call) message.ToolResult
}

// A Provider is behind one extension: an MCP server, a part of this server, or a list of client tools.
type Provider interface {
	// Tools lists the tools under their own names.
	Tools(ctx context.Context) ([]message.Tool, error)
	// Instructions are for the model; empty if there are none.
	Instructions(ctx context.Context) string
	// Call runs a tool by its own name.
	Call(ctx context.Context, name string, call Call) message.ToolResult
	// Close ends the connection, if there is one, and waits until it has ended.
	Close()
}

// A ResourceServer is an MCP server that offers resources.
type ResourceServer interface {
	// Resources lists them.
	Resources(ctx context.Context) ([]Resource, error)
	// Resource reads one.
	Resource(ctx context.Context, uri string) ([]message.ToolContent, error)
}

// A Resource is one resource in a list.
type Resource struct{ URI, Name string }

// A Snapshot is what extensions offer.
type Snapshot struct {
	// Tools have their full names, such as developer__shell. They are in the order of their extensions' keys.
	Tools []message.Tool
	// Frontend has the tools that the client runs, under their own names.
	Frontend []message.Tool
	// Instructions and Notes are in the order of the extensions' keys (decisions M16, M19).
	Instructions []Instructions
	Notes        []string
}

// Instructions are what an extension tells the model.
type Instructions struct{ Key, Text string }

// A Call is one call of a tool.
type Call struct {
	SessionID, RequestID, WorkingDir string

	Name      string
	Arguments json.RawMessage // an object; nil if the model gave none

	// Notify passes on a notification of the server while the tool runs. It never blocks: it drops what cannot be sent
	// at once (GA 18.4).
	Notify func(Notification)
	// Elicit asks the user and returns the answer. It fails if there is no answer.
	Elicit func(ctx context.Context, text string, schema json.RawMessage) (json.RawMessage, error)
	// Sample asks the agent's model. The text of its error is for the MCP server.
	Sample func(ctx context.Context, question Sampling) (Sampled, error)
}

// A Notification is a notification of an MCP server while one of its tools runs.
type Notification struct {
	Method string          // notifications/message or notifications/progress
	Params json.RawMessage // an object
}

// A Sampling is a question of an MCP server to the model while one of its tools runs (decision X23).
type Sampling struct {
	System      string // may be empty
	Messages    []message.Message
	MaxTokens   int64
	Temperature json.Number // "" means that of the model's configuration
}

// Sampled is the model's answer to a Sampling.
type Sampled struct{ Text, Model string }
