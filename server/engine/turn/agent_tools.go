package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// Tools returns all tools that the client does not run, sorted by name in byte order. Of two tools with the same
// name, that of an extension wins (decision M10). If an extension cannot be asked, the tools of all extensions are
// missing (GA 6.4), and the error says why.
func (a *Agent) Tools(ctx context.Context) ([]llm.Tool, error) {
	snapshot, err := a.Extensions.Snapshot(ctx)
	tools := slices.Clone(snapshot.Tools)
	if err != nil {
		tools = nil
	}
	tools = append(tools, a.OwnTools()...)
	for _, sub := range a.SubRecipes() {
		tools = append(tools, subRecipeTool(sub))
	}
	return sortedByName(tools), err
}

// ToolsOf returns the tools of the extension with this normalised key. The key platform also has two of the agent's
// own tools (GA 6.4).
func (a *Agent) ToolsOf(ctx context.Context, key string) ([]llm.Tool, error) {
	found, err := a.Extensions.ToolsOf(ctx, key)
	tools := slices.Clone(found)
	if key == "platform" {
		tools = append(tools, slices.DeleteFunc(slices.Clone(BuiltIn), func(tool llm.Tool) bool {
			return strings.HasPrefix(tool.Name, "subagent__")
		})...)
	}
	return sortedByName(tools), err
}

// subRecipeTool returns the tool that creates tasks for a sub-recipe (decision G17).
func subRecipeTool(sub recipe.SubRecipe) llm.Tool {
	tool := llm.Tool{
		Name:        "subrecipe__create_task_" + sub.Name,
		Description: "Creates tasks that run the recipe " + sub.Name + ".",
		Schema:      json.RawMessage(`{"type":"object","properties":{"task_parameters":{"type":"array","items":{"type":"object"}}},"required":["task_parameters"]}`),
	}
	if sub.Description != nil {
		tool.Description = *sub.Description
	}
	return tool
}

func sortedByName(tools []llm.Tool) []llm.Tool {
	slices.SortStableFunc(tools, func(a, b llm.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(tools, func(a, b llm.Tool) bool { return a.Name == b.Name })
}
