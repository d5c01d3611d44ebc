// Package agent has the agents that are in memory, one for each session that is in use (GA 6). An [Agent] is what replies
// know of it, [*reply.Agent], with the connections to its extensions. A [Manager] makes agents, and drops them.
package agent

import (
	"context"
	"sync"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// Extensions are what an agent is connected to. Its methods may be called at any time by anybody.
type Extensions interface {
	reply.Toolbox
	// Add connects to an extension, instead of one with the same key. The text of the error is shown to clients.
	Add(ctx context.Context, config extension.Config) error
	// Remove drops an extension, if it is there. The name is any that has its key.
	Remove(name string)
	// ToolsOf returns the tools of the extension with this normalised key under their full names, none if it is not there.
	ToolsOf(ctx context.Context, key string) ([]llm.Tool, error)
	// Close drops all extensions.
	Close()
}

// An Agent is the engine of one session.
type Agent struct {
	*reply.Agent
	SessionID  string
	Extensions Extensions

	mu         sync.Mutex
	subRecipes []recipe.SubRecipe
}

// SubRecipes returns the recipes that the agent can run as tools.
func (a *Agent) SubRecipes() []recipe.SubRecipe {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.subRecipes
}

// SetSubRecipes replaces them.
func (a *Agent) SetSubRecipes(list []recipe.SubRecipe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subRecipes = list
}

// Unconnected are the extensions of agents that cannot have any.
type Unconnected struct{}

// Add says that it cannot connect.
func (Unconnected) Add(context.Context, extension.Config) error {
	return reply.Failure("extensions are not built on this server")
}

// Remove removes nothing.
func (Unconnected) Remove(string) {}

// ToolsOf returns nothing.
func (Unconnected) ToolsOf(context.Context, string) ([]llm.Tool, error) { return nil, nil }

// Snapshot returns nothing.
func (Unconnected) Snapshot(context.Context) (reply.Snapshot, error) { return reply.Snapshot{}, nil }

// Call knows no tool (GA 7.8).
func (Unconnected) Call(_ context.Context, call reply.Call) message.Result[[]message.ToolContent] {
	return message.Failure[[]message.ToolContent]("-32603: -32002: " + call.Name)
}

// Close does nothing.
func (Unconnected) Close() {}
