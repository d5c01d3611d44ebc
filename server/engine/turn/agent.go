package turn

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
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

// An Agent is what the replies of one session share (GA 6): the model, the tools, and additions to the system prompt.
// It is safe for concurrent use, because a session may have several streams (GA 19).
type Agent struct {
	SessionID  string
	Extensions Extensions
	memory     *SessionMemory

	running context.Context // ends when the agent is dropped from its pool
	stop    context.CancelFunc

	mu         sync.Mutex
	models     llm.Models
	role       string   // the block of the system prompt for the desktop or a recipe (decision M17)
	added      []string // more blocks of the system prompt
	output     *FinalOutput
	subRecipes []recipe.SubRecipe
}

// NewAgent returns an agent of a session without a model.
func NewAgent(sessionID string, extensions Extensions, memory *SessionMemory) *Agent {
	running, stop := context.WithCancel(context.Background())
	return &Agent{SessionID: sessionID, Extensions: extensions, memory: memory, running: running, stop: stop}
}

// Provider returns the model, or nil if none was chosen. With a lead, it is the worker.
func (a *Agent) Provider() *llm.Provider { return a.chosen().Worker }

// SetModels sets the models.
func (a *Agent) SetModels(m llm.Models) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.models = m
}

// chosen returns the models of SetModels.
func (a *Agent) chosen() llm.Models {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.models
}

// Texts of the system prompt (decisions M16, M17).
const (
	introduction   = "You are goose, an AI agent. You help people with their work, and you act through the tools that you are given."
	desktop        = "The person talks to you in a desktop application."
	recipeHeader   = "You follow a recipe. Its instructions are:\n\n"
	outputReminder = "When the work is done, call the tool " + outputTool + " once, with the final output. It has to match this schema:\n"
)

// InDesktop tells the model that its user works in the desktop application. It replaces the instructions of a recipe.
func (a *Agent) InDesktop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.role = desktop
}

// Follow gives the model the instructions of a recipe. It replaces what InDesktop has set.
func (a *Agent) Follow(instructions string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.role = recipeHeader + instructions
}

// Add adds a block to the system prompt unless it is there.
func (a *Agent) Add(block string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.added, block) {
		a.added = append(a.added, block)
	}
}

// SetOutput makes the agent's replies end with a final output, unless it is nil.
func (a *Agent) SetOutput(output *FinalOutput) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.output = output
}

// finalOutput returns the output of SetOutput.
func (a *Agent) finalOutput() *FinalOutput {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output
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

// system returns the system prompt.
func (a *Agent) system(extensions []toolbox.Instructions, hints string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	blocks := []string{introduction}
	for _, e := range extensions {
		if strings.TrimSpace(e.Text) != "" {
			blocks = append(blocks, "# Extension "+e.Key+"\n"+e.Text)
		}
	}
	blocks = append(blocks, a.role)
	blocks = append(blocks, a.added...)
	if a.output != nil {
		blocks = append(blocks, outputReminder+a.output.shown)
	}
	blocks = append(blocks, hints)
	for i, block := range blocks {
		blocks[i] = strings.TrimRightFunc(block, unicode.IsSpace)
	}
	return strings.Join(slices.DeleteFunc(blocks, func(block string) bool { return block == "" }), "\n\n")
}
