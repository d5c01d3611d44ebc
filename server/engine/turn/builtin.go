package turn

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
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
func (x *exchange) builtIn(model string) []llm.Tool {
	tools := BuiltIn[:1:1]
	if x.mode == auto && !strings.HasPrefix(model, "gemini") {
		tools = BuiltIn[:3:3]
	}
	if output := x.agent.finalOutput(); output != nil {
		tools = append(tools, output.tool())
	}
	return tools
}

// callBuiltIn calls a built-in tool. ok is false if there is no such tool.
func (t *turn) callBuiltIn(call toolbox.Call) (result message.ToolResult, ok bool) {
	if call.Name == outputTool {
		return t.takeOutput(call.Arguments), true
	}
	for _, tool := range BuiltIn {
		if tool.Name == call.Name {
			return message.FailedResult("-32603: " + call.Name + " is not built on this server"), true
		}
	}
	return result, false
}

// takeOutput collects the model's final output, if it is valid.
func (t *turn) takeOutput(arguments json.RawMessage) message.ToolResult {
	if t.output == nil {
		return message.FailedResult(outputUndefined)
	}
	arguments = message.ObjectOrEmpty(arguments)
	if wrong := t.output.wrong(arguments); wrong != "" {
		return message.FailedResult(wrong)
	}
	t.collect(string(arguments))
	return message.TextResult(outputTaken)
}
