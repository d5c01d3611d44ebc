// Package platform has the extensions that are a part of this server (GA 6.7): the todo list of a session, the search in other
// sessions, skills, and the management of extensions.
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
	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/store"
)

// A Host is the agent that the extensions of this package belong to.
type Host struct {
	SessionID  string
	Sessions   Sessions
	Settings   Settings
	Extensions Extensions
	// Skills are directories of skills that all sessions have (decision X30).
	Skills []string
	// TodoLimit is how many characters a todo list may have; 0 is no limit.
	TodoLimit int
	Log       *slog.Logger

	data sync.Mutex // over the extension data of the session, from reading it to writing it
}

// Settings are looked up on every use. A value is canonical JSON, nil if there is none.
type Settings interface {
	Setting(key string) (json.RawMessage, error)
}

// Sessions are those that are stored.
type Sessions interface {
	// Session returns a session without its conversation, Load one with it; the error is [session.ErrNotFound] if there is
	// none.
	Session(ctx context.Context, id string) (session.Session, error)
	Load(ctx context.Context, id string) (session.Session, error)
	// Recent returns the ids of the sessions of users and schedules, the one that was made last first.
	Recent(ctx context.Context) ([]string, error)
	Update(ctx context.Context, id string, changes ...store.Change) (found bool, err error)
}

// Extensions are those that the agent is connected to.
type Extensions interface {
	// All returns them in the order of their keys.
	All() []Connected
	// Add connects to an extension, instead of one with the same key. The text of the error is shown to clients.
	Add(ctx context.Context, config extension.Config) error
	// Drop drops an extension if it is there, unless its tools are the client's.
	Drop(key string) (there, dropped bool)
}

// A Connected extension is one of an agent.
type Connected struct {
	Key       string // normalised
	Config    extension.Config
	Frontend  bool           // its tools are the client's
	Resources ResourceServer // nil if it has announced none
}

// A ResourceServer is an MCP server that has announced resources.
type ResourceServer interface {
	Resources(ctx context.Context) ([]client.Resource, error)
	Resource(ctx context.Context, uri string) ([]message.ToolContent, error)
}

// Open returns an extension by its name.
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

// unconnected is what the extensions of this package have in common.
type unconnected struct{}

func (unconnected) Instructions(context.Context) string { return "" }
func (unconnected) Close()                              {}

// fails is the result of a tool that could not do it, which is a success all the same (decision X26).
func fails(text string) message.ToolResult { return message.TextResult("Error: " + text) }
