package agents

import (
	"context"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/agent"
	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/permission"
)

// tools returns the tools of an agent, or those of one extension of it.
func (h *Handlers) tools(ctx context.Context, a *agent.Agent, of *string) []agent.Tool {
	if of == nil {
		return a.Tools(ctx, h.Log)
	}
	if *of == "platform" {
		return agent.PlatformTools()
	}
	key := extension.NormalizedKey(*of)
	tools := slices.DeleteFunc(a.ExtensionTools(ctx, h.Log), func(tool agent.Tool) bool { return tool.Extension != key })
	slices.SortFunc(tools, func(a, b agent.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// permissionOf returns what is said about a tool: by the user, else by the mode. It is nil if nothing is.
func permissionOf(table permission.Table, mode, tool string) *string {
	level, said := table.Of(permission.User, tool)
	switch {
	case said:
	case mode == "approve":
		level, said = permission.AskBefore, true
	case mode == "smart_approve":
		level, said = table.Of(permission.SmartApprove, tool)
	}
	if !said {
		return nil
	}
	return (*string)(&level)
}

func writeToolInfo(w *jsonwire.Writer, tool agent.Tool, permission *string) {
	w.Open('{')
	w.Name("name")
	w.String(tool.Name)
	w.Name("description")
	w.String(tool.Description)
	w.Name("parameters")
	w.Open('[')
	for name := range properties(jsonwire.Text(tool.InputSchema)) {
		w.Raw(name)
	}
	w.Close(']')
	w.Name("permission")
	w.StringOrNull(permission)
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
