package agents

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/engine/agentpool"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// tools returns the tools of an agent, or only those of one extension.
func (h *Handlers) tools(ctx context.Context, a *agentpool.Agent, of *string) ([]llm.Tool, error) {
	if of == nil {
		return a.Tools(ctx)
	}
	return a.ToolsOf(ctx, *of)
}

// permission returns the permission of a tool: the user's choice, or else that of the mode. It is nil if neither
// exists.
func (h *Handlers) permission(mode, tool string) *string {
	level, err := h.Permissions.Of(permission.User, tool)
	if err == nil && level == "" {
		switch mode {
		case "approve":
			level = permission.AskBefore
		case "smart_approve":
			level, err = h.Permissions.Of(permission.SmartApprove, tool)
		}
	}
	if err != nil {
		h.Log.Warn("permission not read", "err", err)
	}
	if level == "" {
		return nil
	}
	return (*string)(&level)
}

func writeToolInfo(w *jsonwire.Writer, tool llm.Tool, permission *string) {
	w.Open('{')
	w.Name("name").String(tool.Name)
	w.Name("description").String(tool.Description)
	w.Name("parameters").Open('[')
	for name := range properties(jsonwire.Text(tool.Schema)) {
		w.Raw(name)
	}
	w.Close(']')
	w.Name("permission").StringOrNull(permission)
	w.Close('}')
}

// properties yields the names of a schema's properties as JSON, in order.
func properties(schema jsonwire.Text) func(yield func(jsonwire.Text) bool) {
	return func(yield func(jsonwire.Text) bool) {
		if schema.Kind() != "object" {
			return
		}
		found := schema.Pick("properties")[0]
		if found.Kind() != "object" {
			return
		}
		for name := range found.Members() {
			if !yield(name) {
				return
			}
		}
	}
}
