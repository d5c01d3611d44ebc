// Package platform implements the extensions that are part of this server (GA 6.7): the todo list of a session, the search
// in other sessions, skills, and the management of extensions.
package platform

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// A Host is the agent that an extension of this package belongs to.
type Host struct {
	SessionID string
	Sessions  Sessions
	// SetData stores the extension data of a session. found is false if there is no such session.
	SetData    func(ctx context.Context, sessionID string, data json.RawMessage) (found bool, err error)
	Settings   Settings
	Extensions Extensions
	// Skills are the directories with skills for all sessions (decision X30).
	Skills []string
	// TodoLimit is the maximum number of characters in a todo list; 0 means no limit.
	TodoLimit int
	Log       *slog.Logger

	data sync.Mutex // guards the session's extension data from reading to writing
}

// Settings are looked up on every use. A value is canonical JSON, or nil if there is none.
type Settings interface {
	Setting(key string) (json.RawMessage, error)
}

// Sessions are the stored sessions.
type Sessions interface {
	// Session returns a session without its conversation, Load one with it. The error is [session.ErrNotFound] if
	// there is no such session.
	Session(ctx context.Context, id string) (session.Session, error)
	Load(ctx context.Context, id string) (session.Session, error)
	// Recent returns the IDs of the sessions of users and schedules, newest first.
	Recent(ctx context.Context) ([]string, error)
}

// Extensions are the extensions of the agent.
type Extensions interface {
	// All returns them in the order of their keys.
	All() []Connected
	// Add connects to an extension. It replaces one with the same key. The text of the error is for clients.
	Add(ctx context.Context, config extension.Config) error
	// Drop drops an extension if it exists, unless the client runs its tools.
	Drop(key string) (there, dropped bool)
}

// A Connected extension is an extension of an agent.
type Connected struct {
	Key       string // normalised
	Config    extension.Config
	Frontend  bool                   // the client runs its tools
	Resources toolbox.ResourceServer // nil if it offers no resources
}

// Open returns the extension with the name in a configuration.
func (h *Host) Open(config extension.Config) (toolbox.Provider, error) {
	switch extension.Key(config.Name) {
	case "todo":
		return &todo{host: h}, nil
	case "chatrecall":
		return &chatrecall{host: h}, nil
	case "skills":
		return &skills{host: h}, nil
	case "extensionmanager":
		return &manager{host: h}, nil
	}
	return nil, mcperror.Reason("Unknown platform extension: " + config.Name)
}

// unconnected has the methods that the extensions of this package share.
type unconnected struct{}

func (unconnected) Instructions(context.Context) string { return "" }
func (unconnected) Close()                              {}

// argumentErrors are the errors of calls whose arguments are missing or of the wrong type.
var argumentErrors = arguments.Errors{
	Missing: func(name string) error { return mcperror.Reason("Missing required parameter: " + name) },
	Invalid: func(name string) error { return mcperror.Reason("Invalid argument: " + name) },
}

// fails returns the result of a tool that could not do its work. In MCP it still counts as a success (decision X26).
func fails(text string) message.ToolResult { return message.TextResult("Error: " + text) }
