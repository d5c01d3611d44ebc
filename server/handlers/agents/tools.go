package agents

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ofClients is the filter for the tools of the session's client (CT 11.6).
const ofClients = "client_tools"

// tools returns the tools of an agent and those of its session's client, or only those of one extension.
func (h *Handlers) tools(ctx context.Context, a *turn.Agent, of *string) (tools []llm.Tool, err error) {
	switch {
	case of == nil:
		tools, err = a.Tools(ctx)
	case *of != ofClients:
		return a.ToolsOf(ctx, *of)
	}
	s, missing := h.Store.Session(ctx, a.SessionID)
	if missing != nil {
		if !errors.Is(missing, session.ErrNotFound) {
			err = errors.Join(err, missing)
		}
		return tools, err
	}
	return append(tools, a.ClientTools(ctx, h.Clients, s)...), err
}

// permission returns the permission of a tool: the user's choice, or else that of the mode. It is nil if neither
// exists.
func (h *Handlers) permission(ctx context.Context, mode, tool string) *api.PermissionLevel {
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
		h.Log.WarnContext(ctx, "permission not read", "err", err)
	}
	if level == "" {
		return nil
	}
	return (*api.PermissionLevel)(&level)
}

// properties yields the names of a schema's properties, in order.
func properties(schema jsonwire.Text) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range schema.Get("properties").Members() {
			if !yield(name.Str()) {
				return
			}
		}
	}
}
