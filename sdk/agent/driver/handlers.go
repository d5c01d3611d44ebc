package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A script is what every handler can do: release another one, then wait, or hold until it is released, and fail.
type script struct {
	Release, Hold string
	Wait          bool
	Error, Panic  *string
}

func (s *script) before(ctx context.Context, what string) error {
	if s.Release != "" {
		_ = release(s.Release)
	}
	if s.Wait || s.Hold != "" {
		var released <-chan struct{} // nil: for ever
		if !s.Wait {
			released = gate(s.Hold)
		}
		select {
		case <-released:
		case <-ctx.Done():
			note("cancelled", what)
			return errors.New("cancelled") // the text goes to the CLI
		}
	}
	if s.Panic != nil {
		panic(*s.Panic)
	}
	if s.Error != nil {
		return errors.New(*s.Error)
	}
	return nil
}

type toolScript struct {
	script
	Text              *string
	Add               bool
	Content           []agentsdk.ToolResultContent
	IsError           bool
	StructuredContent any
	Meta              map[string]any
}

func (s *toolScript) run(ctx context.Context, args json.RawMessage, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
	note("calls", map[string]any{"server": tc.ServerName, "tool": tc.ToolName, "input": args, "toolUseID": tc.ToolUseID})
	if err := s.before(ctx, "tool "+tc.ToolName); err != nil {
		return agentsdk.ToolResult{}, err
	}
	if s.Text != nil {
		return agentsdk.TextResult(*s.Text), nil
	}
	if s.Add {
		var in struct{ A, B float64 }
		err := json.Unmarshal(args, &in)
		return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), err
	}
	return agentsdk.ToolResult{Content: s.Content, IsError: s.IsError, StructuredContent: s.StructuredContent, Meta: s.Meta}, nil
}

type hook struct {
	script
	Output json.RawMessage
}

func (h *hook) run(ctx context.Context, event string, in agentsdk.HookInput, toolUseID string) (agentsdk.HookOutput, error) {
	about := map[string]any{"event": event, "input": in.Raw}
	if toolUseID != "" {
		about["toolUseID"] = toolUseID
	}
	note("hooks", about)
	return agentsdk.HookOutput{Raw: h.Output}, h.before(ctx, "hook "+event)
}
