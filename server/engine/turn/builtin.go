package turn

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/llm"
)

// BuiltIn are the server's own tools (GA 18.3), as specified in docs/behaviour/goose-api.md.
var BuiltIn = []llm.Tool{
	{
		Name:        "platform__manage_schedule",
		Description: "Manages the scheduled recipes of this server.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"action":{"type":"string","enum":["list","create","run_now","pause","unpause","delete","kill","inspect","sessions","session_content"]},` +
			`"job_id":{"type":"string"},"recipe_path":{"type":"string"},"cron_expression":{"type":"string"},` +
			`"limit":{"type":"integer"},"session_id":{"type":"string"}},"required":["action"]}`),
	},
	{
		Name:        "dynamic_task__create_task",
		Description: "Creates tasks that sub-agents can run.",
		Schema: json.RawMessage(`{"type":"object","properties":{"task_parameters":{"type":"array","items":{"type":"object"}}},` +
			`"required":["task_parameters"]}`),
	},
	{
		Name:        "subagent__execute_task",
		Description: "Runs tasks in sub-agents and returns their results.",
		Schema: json.RawMessage(`{"type":"object","properties":{"task_ids":{"type":"array","items":{"type":"string"}},` +
			`"execution_mode":{"type":"string","enum":["sequential","parallel"]}},"required":["task_ids"]}`),
	},
}

// builtIn returns the built-in tools that a model is offered. The tools about tasks are only offered in the mode
// auto, and not to Gemini (GA 18.3).
func builtIn(m mode, model string, output *FinalOutput) []llm.Tool {
	tools := BuiltIn[:1:1]
	if m == auto && !strings.HasPrefix(model, "gemini") {
		tools = BuiltIn[:3:3]
	}
	if output != nil {
		tools = append(tools, output.tool())
	}
	return tools
}

// isBuiltIn reports whether a tool is one of the server's own tools, except that for the final output.
func isBuiltIn(name string) bool {
	return slices.ContainsFunc(BuiltIn, func(tool llm.Tool) bool { return tool.Name == name })
}

// OwnTools returns the tools that do not belong to extensions, as clients see them: all built-in tools, whatever the
// mode, and the tool for the final output if there is one (GA 6.4).
func (a *Agent) OwnTools() []llm.Tool {
	tools := slices.Clone(BuiltIn)
	if output := a.finalOutput(); output != nil {
		tools = append(tools, output.tool())
	}
	return tools
}
