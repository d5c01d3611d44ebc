package main

import (
	"context"
	"encoding/json"
	"sync"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

type permission struct {
	script
	For       string // the tool that it is for; all questions without an answer of their own go by their order
	Allow     bool
	Input     map[string]any
	Updates   []agentsdk.PermissionUpdate
	Deny      *string
	Interrupt bool
}

type permissions struct {
	mu      sync.Mutex
	asked   int
	answers []permission
}

// next returns the answer to the next question. The last one repeats.
func (p *permissions) next(tool string) *permission {
	p.mu.Lock()
	defer p.mu.Unlock()
	var inOrder []*permission
	for i := range p.answers {
		switch a := &p.answers[i]; a.For {
		case tool:
			return a
		case "":
			inOrder = append(inOrder, a)
		}
	}
	p.asked++
	return inOrder[min(p.asked, len(inOrder))-1]
}

func (p *permissions) ask(ctx context.Context, tool string, input map[string]any, pc agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
	about := map[string]any{"tool": tool, "input": input, "toolUseID": pc.ToolUseID}
	for key, text := range map[string]string{
		"blockedPath": pc.BlockedPath, "decisionReason": pc.DecisionReason, "title": pc.Title, "agentID": pc.AgentID,
	} {
		if text != "" {
			about[key] = text
		}
	}
	var raw struct {
		Suggestions json.RawMessage `json:"permission_suggestions"`
	}
	if err := json.Unmarshal(pc.Raw, &raw); err == nil && raw.Suggestions != nil {
		about["suggestions"] = raw.Suggestions
	}
	note("permissions", about)
	a := p.next(tool)
	if err := a.before(ctx, "permission "+tool); err != nil {
		return agentsdk.PermissionResult{}, err
	}
	switch {
	case a.Deny != nil && a.Interrupt:
		return agentsdk.DenyAndInterrupt(*a.Deny), nil
	case a.Deny != nil:
		return agentsdk.Deny(*a.Deny), nil
	case a.Input != nil || a.Updates != nil:
		return agentsdk.AllowWith(a.Input, a.Updates...), nil
	}
	return agentsdk.Allow(), nil
}
