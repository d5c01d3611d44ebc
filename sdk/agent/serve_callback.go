package agentsdk

import (
	"encoding/json"
	"fmt"
	"slices"
)

// callbacks answers the questions of the CLI by the callbacks of the program.
type callbacks struct {
	*responder
	o     *ProtocolOptions
	hooks []hook
	seen  observer
}

func (c *callbacks) permission(id string, request json.RawMessage) {
	if c.o.CanUseTool == nil {
		c.refuse(id, "no permission callback", "")
		return
	}
	q := question{}
	if err := json.Unmarshal(request, &q); err != nil || q.Input == nil {
		c.refuse(id, "can_use_tool needs a tool_name and an input object", "")
		return
	}
	q.Raw, q.RequestID = request, id
	in := &incoming{id: id}
	in.start = func() {
		c.seen.permissionStarted(PendingPermission{RequestID: id, ToolName: q.ToolName, ToolInput: q.Input})
		in.cancelled = func() { c.seen.permissionEnded(id) }
		c.inbox.run(func() {
			result, err := protect(func() (PermissionResult, error) {
				return c.o.CanUseTool(in.ctx, q.ToolName, q.Input, q.PermissionContext)
			})
			c.respond(in, result.payload(q.ToolUseID), err, func() { c.seen.permissionEnded(id) })
		})
	}
	c.inbox.add(in, true)
}

func (c *callbacks) hook(id string, request json.RawMessage) {
	var call hookCall
	if err := json.Unmarshal(request, &call); err != nil {
		c.refuse(id, "hook_callback: "+err.Error(), "")
		return
	}
	number := slices.IndexFunc(c.hooks, func(h hook) bool { return h.id == call.CallbackID })
	if number < 0 {
		c.refuse(id, fmt.Sprintf("unknown hook callback %q", call.CallbackID), "")
		return
	}
	in := &incoming{id: id}
	in.start = func() {
		c.inbox.run(func() {
			out, err := c.hooks[number].run(in.ctx, call)
			var payload any = out
			if out.Raw != nil {
				payload = out.Raw
			}
			c.respond(in, payload, err, nil)
		})
	}
	c.inbox.add(in, false)
}

func (c *callbacks) elicitation(id string, request json.RawMessage) {
	if c.o.OnElicitation == nil {
		c.post(successLine(id, json.RawMessage(`{"action":"decline"}`)))
		return
	}
	in := &incoming{id: id}
	in.start = func() {
		c.inbox.run(func() {
			result, err := protect(func() (ElicitationResult, error) {
				var r ElicitationRequest
				if err := json.Unmarshal(request, &r); err != nil {
					return ElicitationResult{}, err
				}
				return c.o.OnElicitation(in.ctx, r)
			})
			if err == nil && !slices.Contains([]string{"accept", "decline", "cancel"}, result.Action) {
				err = fmt.Errorf("elicitation: action %q, want accept, decline or cancel", result.Action)
			}
			c.respond(in, result, err, nil)
		})
	}
	c.inbox.add(in, false)
}
