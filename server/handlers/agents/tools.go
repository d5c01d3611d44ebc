package agents

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/engine/agentpool"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// tools returns the tools of an agent, or those of one extension of it.
func (h *Handlers) tools(ctx context.Context, a *agentpool.Agent, of *string) ([]llm.Tool, error) {
	if of == nil {
		return a.Tools(ctx)
	}
	return a.ToolsOf(ctx, *of)
}

// permission returns what is said about a tool: by the user, else by the mode. It is nil if nothing is.
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

// properties yields the names of the properties of a schema, as JSON, in its order.
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
