package turn

import (
	"slices"

	"github.com/lockstep-dev/lockstep/server/llm"
)

// OwnTools returns the tools that are not those of extensions, as they are listed to clients: all built-in ones, whatever
// the mode, and that for the final output if there is one (GA 6.4).
func (a *Agent) OwnTools() []llm.Tool {
	tools := slices.Clone(BuiltIn)
	if output := a.finalOutput(); output != nil {
		tools = append(tools, output.tool())
	}
	return tools
}
