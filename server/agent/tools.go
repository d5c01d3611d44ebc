package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/lockstep-dev/lockstep/server/recipe"
)

// The tools that every agent has, as docs/decisions.md describes them.
var builtIn = []Tool{
	{
		Name:        "dynamic_task__create_task",
		Description: "Creates tasks that sub-agents can run.",
		InputSchema: json.RawMessage(taskParameters),
	},
	{
		Name:        "platform__manage_schedule",
		Description: "Manages the scheduled recipes of this server.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["list","create","run_now","pause","unpause","delete","kill","inspect","sessions","session_content"]},"job_id":{"type":"string"},"recipe_path":{"type":"string"},"cron_expression":{"type":"string"},"limit":{"type":"integer"},"session_id":{"type":"string"}},"required":["action"]}`),
	},
	{
		Name:        "subagent__execute_task",
		Description: "Runs tasks in sub-agents and returns their results.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"task_ids":{"type":"array","items":{"type":"string"}},"execution_mode":{"type":"string","enum":["sequential","parallel"]}},"required":["task_ids"]}`),
	},
}

const taskParameters = `{"type":"object","properties":{"task_parameters":{"type":"array","items":{"type":"object"}}},"required":["task_parameters"]}`

// FinalOutputTool is the tool that takes the final output.
const FinalOutputTool = "recipe__final_output"

// Tools returns all tools that are not the client's, sorted by the bytes of their names; of two with one name that of an
// extension is kept (decision M10). If an extension cannot be asked, the tools of all are missing (GA 6.4).
func (a *Agent) Tools(ctx context.Context, log *slog.Logger) []Tool {
	tools := append(a.ExtensionTools(ctx, log), builtIn...)
	for _, sub := range a.SubRecipes() {
		tools = append(tools, subRecipeTool(sub))
	}
	if schema := a.FinalOutput(); schema != nil {
		tools = append(tools, Tool{
			Name:        FinalOutputTool,
			Description: "Gives the final output of the conversation. Call it once, when the work is done.",
			InputSchema: schema,
		})
	}
	return sorted(tools)
}

// PlatformTools returns those of the agent's own tools that are listed as an extension's, "platform" (GA 6.4).
func PlatformTools() []Tool { return sorted(slices.Clone(builtIn[:2])) }

// ExtensionTools returns the tools of extensions in no order.
func (a *Agent) ExtensionTools(ctx context.Context, log *slog.Logger) []Tool {
	if a.Extensions == nil {
		return nil
	}
	tools, err := a.Extensions.Tools(ctx)
	if err != nil {
		log.Warn("tools of extensions not listed", "err", err)
		return nil
	}
	return slices.Clone(tools)
}

// subRecipeTool is the tool that makes tasks of a sub-recipe (decision G17).
func subRecipeTool(sub recipe.SubRecipe) Tool {
	tool := Tool{
		Name:        "subrecipe__create_task_" + sub.Name,
		Description: "Creates tasks that run the recipe " + sub.Name + ".",
		InputSchema: json.RawMessage(taskParameters),
	}
	if sub.Description != nil {
		tool.Description = *sub.Description
	}
	return tool
}

func sorted(tools []Tool) []Tool {
	slices.SortStableFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(tools, func(a, b Tool) bool { return a.Name == b.Name })
}
