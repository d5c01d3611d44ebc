package turn

import (
	"slices"

	"github.com/lockstep-dev/lockstep/server/llm"
)

// OwnTools returns the tools that do not belong to extensions, as clients see them: all built-in tools, whatever the
// mode, and the tool for the final output if there is one (GA 6.4).
func (a *Agent) OwnTools() []llm.Tool {
	tools := slices.Clone(BuiltIn)
	if output := a.finalOutput(); output != nil {
		tools = append(tools, output.tool())
	}
	return tools
}
