// Package agent has the agents that are in memory: the engines of sessions (GA 6). An agent has what is not stored: the
// provider that its session asks, the extensions that it is connected to, and the questions that are open. A [Manager]
// has one for each session that is in use.
package agent

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/questions"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/session"
)

// A Factory makes providers; [*llm.Factory] is one. The texts of its errors are shown to clients.
type Factory interface {
	// Config returns the configuration of a model.
	Config(model string) (session.ModelConfig, error)
	// New returns a provider. It makes no request.
	New(name string, config session.ModelConfig) (*llm.Provider, error)
}

// Extensions are what an agent is connected to. Its methods may be called at any time by anybody.
type Extensions interface {
	// Add connects to an extension, instead of one with the same key.
	Add(ctx context.Context, config extension.Config) error
	// Remove drops an extension, if it is there. The name is any that has its key.
	Remove(name string)
	// Tools returns the tools of all extensions under the names by which the model calls them, but none of frontend
	// extensions. The error is that of any extension that cannot be asked.
	Tools(ctx context.Context) ([]Tool, error)
	// Close drops all extensions.
	Close()
}

// A Tool is what an agent offers its model.
type Tool struct {
	Extension   string          // the normalised key of its extension; empty for the agent's own
	Name        string          // with the prefix
	Description string          // empty if it has none
	InputSchema json.RawMessage // a canonical object
}

// An Agent is the engine of one session. Its methods may be called at any time by anybody.
type Agent struct {
	SessionID string
	// Confirmations are the user's decisions about tools, by request id: allow_once, always_allow, or anything else for
	// deny (GA 8).
	Confirmations questions.Board[string]
	// Extensions is nil if the manager makes none.
	Extensions Extensions

	mu          sync.Mutex
	provider    *llm.Provider
	prompt      string
	subRecipes  []recipe.SubRecipe
	finalOutput json.RawMessage
}

// Provider returns what answers for the model, nil if nobody has set one.
func (a *Agent) Provider() *llm.Provider {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.provider
}

// SetProvider sets what answers for the model. Replies that are under way go on with the one they have.
func (a *Agent) SetProvider(p *llm.Provider) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.provider = p
}

// Prompt returns what the agent's system prompt has beside what every agent's has, or nothing (decision M17).
func (a *Agent) Prompt() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prompt
}

// SetPrompt replaces it.
func (a *Agent) SetPrompt(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompt = text
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

// FinalOutput returns the JSON Schema of the final output, nil if none is asked for (GA 7.13).
func (a *Agent) FinalOutput() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.finalOutput
}

// SetFinalOutput asks for a final output.
func (a *Agent) SetFinalOutput(schema json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finalOutput = schema
}
