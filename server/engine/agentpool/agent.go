// Package agentpool holds the agents in memory, one for each session in use (GA 6). An [Agent] is a [*turn.Agent]
// with the connections to its extensions. A [Pool] creates agents, and drops the least recently used ones.
package agentpool

import (
	"context"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// Extensions are the extensions of an agent. Its methods are safe for concurrent use.
type Extensions interface {
	toolbox.Toolbox
	// Add connects to an extension. It replaces one with the same key. The text of the error is for clients.
	Add(ctx context.Context, config extension.Config) error
	// Remove drops an extension, if it exists. Any name with its key will do.
	Remove(name string)
	// ToolsOf returns the tools of the extension with this normalised key, with their full names. It returns none if
	// there is no such extension.
	ToolsOf(ctx context.Context, key string) ([]llm.Tool, error)
	// Close drops all extensions.
	Close()
}

// An Agent is the engine of one session.
type Agent struct {
	*turn.Agent
	SessionID  string
	Extensions Extensions

	mu         sync.Mutex
	subRecipes []recipe.SubRecipe
}

// SubRecipes returns the sub-recipes that the agent can run as tools.
func (a *Agent) SubRecipes() []recipe.SubRecipe {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.subRecipes
}

// SetSubRecipes sets the sub-recipes.
func (a *Agent) SetSubRecipes(list []recipe.SubRecipe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subRecipes = list
}
