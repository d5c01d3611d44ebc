package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var outsideNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// full returns the name by which the model knows a tool.
func (s *server) full(tool string) string {
	return "mcp__" + outsideNames.ReplaceAllString(s.name, "_") + "__" + outsideNames.ReplaceAllString(tool, "_")
}

// A use is a tool use of the model, on its way through hooks and permissions.
type use struct {
	id, name string
	input    object
	refusal  string // why it does not run
	abort    bool   // the refusal ends the turn
	asks     bool
	stop     *result // ends the turn after the tool
}

// callTool is the step call.
func (p *player) callTool(s step) (*result, error) {
	on, err := p.serverOf(s)
	if err != nil {
		return nil, err
	}
	u := &use{name: on.full(s.name()), input: s.input(), asks: s.more["asks"] == true}
	return p.through(u, s, func() (object, error) {
		on.calls++
		p.c.call = &call{on.name, on.calls}
		defer func() { p.c.call = nil }()
		return p.c.rpc(on, object{"id": on.calls, "method": "tools/call", "params": object{
			"name": s.name(), "arguments": u.input, "_meta": object{"claudecode/toolUseId": u.id, "progressToken": on.calls},
		}})
	})
}

// askTool is the step ask.
func (p *player) askTool(s step) (*result, error) {
	u := &use{name: s.name(), input: s.input(), asks: true}
	return p.through(u, s, func() (object, error) {
		return object{"content": []any{object{"type": "text", "text": s.text("output")}}}, nil
	})
}

func (p *player) serverOf(s step) (*server, error) {
	names := []string{}
	for _, on := range p.c.servers {
		if names = append(names, on.name); on.name == s.text("server") || s.text("server") == "" && len(p.c.servers) == 1 {
			return on, nil
		}
	}
	if s.text("server") == "" {
		return nil, fmt.Errorf("call of %s: the SDK has announced %d servers %q: add server: NAME to the step", s.name(), len(names), names)
	}
	return nil, fmt.Errorf("call of %s: the SDK has announced no server %q, only %q", s.name(), s.text("server"), names)
}

// through takes a tool use from the model's message to its result: hooks, permission, the tool, hooks.
func (p *player) through(u *use, s step, run func() (object, error)) (*result, error) {
	u.id = cmp.Or(s.text("id"), p.c.wire.id("use", "toolu_%d"))
	if err := p.assistant(object{"type": "tool_use", "id": u.id, "name": u.name, "input": u.input}); err != nil {
		return nil, err
	}
	outcome, err := p.decide(u, s, run)
	if errors.Is(err, errInterrupted) {
		p.inTool = true
		return nil, errors.Join(err, p.toolResult(u, failure("The turn was interrupted before the tool has answered.")))
	}
	if err != nil {
		return nil, err
	}
	if err := p.toolResult(u, outcome); err != nil {
		return nil, err
	}
	if u.abort {
		p.inTool = true
		return nil, errInterrupted
	}
	return u.stop, nil
}

func (p *player) decide(u *use, s step, run func() (object, error)) (object, error) {
	about := func() object { return object{"tool_name": u.name, "tool_input": u.input, "tool_use_id": u.id} }
	before, err := p.hook("PreToolUse", u.name, u.id, about())
	if err != nil {
		return nil, err
	}
	before.apply(u)
	if u.asks && u.refusal == "" {
		if err := p.permission(u, s); err != nil {
			return nil, err
		}
	}
	if u.refusal != "" {
		p.denials = append(p.denials, about())
		return failure(u.refusal), nil
	}
	outcome, err := run()
	if err != nil {
		return nil, err
	}
	more, event := about(), "PostToolUse"
	if outcome["isError"] == true {
		event, more["error"], more["is_interrupt"] = "PostToolUseFailure", textOf(outcome["content"]), false
	} else {
		more["tool_response"], more["duration_ms"] = outcome["content"], 0
	}
	after, err := p.hook(event, u.name, u.id, more)
	if stop := after.stopped(); stop != nil {
		u.stop = stop
	}
	return outcome, err
}

// toolResult emits what the model sees.
func (p *player) toolResult(u *use, outcome object) error {
	p.last = textOf(outcome["content"])
	block := object{"type": "tool_result", "tool_use_id": u.id, "content": outcome["content"]}
	if outcome["isError"] == true {
		block["is_error"] = true
	}
	return p.user(block)
}

// permission asks whether a tool may run.
func (p *player) permission(u *use, s step) error {
	if flag(p.c.args, "--permission-prompt-tool", "") != "stdio" {
		u.refusal = "the SDK does not answer questions: it has not passed --permission-prompt-tool=stdio"
		return p.c.wire.emit(object{"type": "system", "subtype": "permission_denied", "tool_name": u.name, "tool_use_id": u.id})
	}
	request := object{"subtype": "can_use_tool", "tool_name": u.name, "input": u.input, "tool_use_id": u.id}
	if list, ok := s.more["suggestions"]; ok {
		request["permission_suggestions"] = list
	}
	response, err := p.c.ask(request)
	if err != nil {
		return err
	}
	if response["subtype"] == "error" {
		u.refusal = fmt.Sprintf("the permission request has failed: %v", response["error"])
		return nil
	}
	answer, _ := response["response"].(object)
	message, _ := answer["message"].(string)
	input, isObject := answer["updatedInput"].(object)
	switch {
	case answer["behavior"] == "allow" && (isObject || answer["updatedInput"] == nil):
		if isObject {
			u.input = input
		}
		return p.update(answer["updatedPermissions"])
	case answer["behavior"] == "deny" && message != "":
		u.refusal, u.abort = message, answer["interrupt"] == true
	default:
		text, _ := json.Marshal(answer) // it was read from JSON
		u.refusal = "the answer to the permission request is not valid: " + short(string(text))
	}
	return nil
}

// update does what a permission answer changes: only the mode.
func (p *player) update(value any) error {
	list, _ := value.([]any)
	for _, u := range list {
		change, _ := u.(object)
		if mode, _ := change["mode"].(string); change["type"] == "setMode" && slices.Contains(modes, mode) {
			if err := p.c.changeMode(mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// A verdict is what the hooks of an event have answered, in their order.
type verdict []object

// hook calls the hooks of an event.
func (p *player) hook(event, tool, useID string, more object) (verdict, error) {
	var out verdict
	for _, m := range p.c.hooks[event] {
		if m.tools != nil && !m.tools.MatchString(tool) {
			continue
		}
		for _, id := range m.ids {
			input := object{"hook_event_name": event, "session_id": p.c.script.session, "permission_mode": p.c.mode}
			maps.Copy(input, more)
			request := object{"subtype": "hook_callback", "callback_id": id, "input": input}
			if useID != "" {
				request["tool_use_id"] = useID
			}
			response, err := p.c.ask(request)
			if err != nil {
				return nil, err
			}
			answer, _ := response["response"].(object)
			if response["subtype"] == "error" {
				warning := fmt.Sprintf("a hook of %s has failed: %v", event, response["error"])
				if err := p.c.wire.emit(object{"type": "system", "subtype": "informational", "tag": "hook_callback_failed", "content": warning}); err != nil {
					return nil, err
				}
			}
			out = append(out, answer)
		}
	}
	return out, nil
}

// apply does what hooks before a tool have decided.
func (v verdict) apply(u *use) {
	u.stop = v.stopped()
	for _, answer := range v {
		specific, _ := answer["hookSpecificOutput"].(object)
		if input, ok := specific["updatedInput"].(object); ok {
			u.input = input
		}
		reason, _ := specific["permissionDecisionReason"].(string)
		old, _ := answer["reason"].(string)
		switch decision := specific["permissionDecision"]; {
		case decision == "deny" || answer["decision"] == "block":
			u.refusal = cmp.Or(reason, old, "a hook has refused the call")
		case decision == "allow":
			u.asks = false
		case decision == "ask":
			u.asks = true
		}
	}
}

// stopped returns the end of the turn, if a hook wants it.
func (v verdict) stopped() *result {
	for _, answer := range v {
		if answer["continue"] == false {
			reason, _ := answer["stopReason"].(string)
			return &result{subtype: "success", text: reason, reason: "hook_stopped"}
		}
	}
	return nil
}

// number returns a number of a script.
func number(value any) float64 {
	n, _ := value.(json.Number)
	f, _ := n.Float64() // 0 if there is none; the schema has checked it
	return f
}
