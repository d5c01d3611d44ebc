package turn

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/lockstep-dev/lockstep/server/engine/leadworker"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// An Agent is what replies of one session have in common (GA 6): the model, the tools, and what was added to the system
// prompt. It is safe for concurrent use: a session may have several streams (GA 19).
type Agent struct {
	Tools  toolbox.Toolbox
	memory *SessionMemory

	mu     sync.Mutex
	models leadworker.Models
	role   string   // the block for the desktop, or for a recipe (decision M17)
	added  []string // more blocks of the system prompt
	output *FinalOutput
}

// NewAgent returns an agent of a session, without a model.
func NewAgent(tools toolbox.Toolbox, memory *SessionMemory) *Agent {
	return &Agent{Tools: tools, memory: memory}
}

// Provider returns the model, nil if none was chosen. If there are a lead and a worker, it is the worker.
func (a *Agent) Provider() *llm.Provider { return a.chosen().Worker }

// SetProvider chooses the model, without a lead.
func (a *Agent) SetProvider(p *llm.Provider) { a.SetModels(leadworker.Models{Worker: p}) }

// SetModels chooses the models.
func (a *Agent) SetModels(m leadworker.Models) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.models = m
}

// chosen returns what SetModels has set.
func (a *Agent) chosen() leadworker.Models {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.models
}

// Texts for the system prompt (decisions M16, M17).
const (
	introduction   = "You are goose, an AI agent. You help people with their work, and you act through the tools that you are given."
	desktop        = "The person talks to you in a desktop application."
	recipeHeader   = "You follow a recipe. Its instructions are:\n\n"
	outputReminder = "When the work is done, call the tool " + outputTool + " once, with the final output. It has to match this schema:\n"
)

// InDesktop tells the model where its user is, and no more that it follows a recipe.
func (a *Agent) InDesktop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.role = desktop
}

// Follow tells the model the instructions of a recipe, in the place of what InDesktop tells.
func (a *Agent) Follow(instructions string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.role = recipeHeader + instructions
}

// Add adds a block to the system prompt, unless it is there.
func (a *Agent) Add(block string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.added, block) {
		a.added = append(a.added, block)
	}
}

// SetOutput makes the replies of the agent end with a final output, or not if it is nil.
func (a *Agent) SetOutput(output *FinalOutput) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.output = output
}

// finalOutput returns what SetOutput has set.
func (a *Agent) finalOutput() *FinalOutput {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output
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
