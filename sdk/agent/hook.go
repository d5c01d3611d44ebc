package agentsdk

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A HookCallback is called when something happens in the session. The context ends when the CLI withdraws the call, after
// the matcher's timeout, and at shutdown. The zero HookOutput changes nothing. An error is a warning for the CLI, or blocks if
// the matcher says so.
type HookCallback func(ctx context.Context, in HookInput, toolUseID string) (HookOutput, error)

// A HookMatcher selects what its hooks are called for.
type HookMatcher struct {
	Matcher   string // a pattern of tool names, such as "Bash|Edit"; empty matches all
	Hooks     []HookCallback
	Timeout   time.Duration // default 600 s
	OnFailure string        // "continue", which is the default, or "block"
}

// A HookInput describes what happens.
type HookInput struct {
	HookEventName        string          `json:"hook_event_name"`
	SessionID            string          `json:"session_id"`
	TranscriptPath       string          `json:"transcript_path"`
	Cwd                  string          `json:"cwd"`
	PermissionMode       string          `json:"permission_mode"`
	ToolName             string          `json:"tool_name"`
	ToolInput            json.RawMessage `json:"tool_input"`
	ToolUseID            string          `json:"tool_use_id"`
	ToolResponse         json.RawMessage `json:"tool_response"` // of PostToolUse
	Error                string          `json:"error"`         // of PostToolUseFailure
	Prompt               string          `json:"prompt"`        // of UserPromptSubmit
	StopHookActive       bool            `json:"stop_hook_active"`
	LastAssistantMessage string          `json:"last_assistant_message"`
	McpServer            *McpServerRef   `json:"mcp_server"`
	Raw                  json.RawMessage `json:"-"` // everything
}

// A HookOutput answers a hook.
type HookOutput struct {
	Continue           *bool               `json:"continue,omitempty"` // false ends the turn
	SuppressOutput     bool                `json:"suppressOutput,omitempty"`
	StopReason         string              `json:"stopReason,omitempty"`
	Decision           string              `json:"decision,omitempty"` // "block"
	Reason             string              `json:"reason,omitempty"`
	SystemMessage      string              `json:"systemMessage,omitempty"`
	HookSpecificOutput *HookSpecificOutput `json:"hookSpecificOutput,omitempty"`
	Async              bool                `json:"async,omitempty"`
	AsyncTimeout       float64             `json:"asyncTimeout,omitempty"`
	Raw                json.RawMessage     `json:"-"` // if set, it is sent instead: for members that this type does not have
}

// A HookSpecificOutput is the part of an answer that depends on the event.
type HookSpecificOutput struct {
	HookEventName            string         `json:"hookEventName"` // default: the event
	PermissionDecision       string         `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string         `json:"permissionDecisionReason,omitempty"`
	UpdatedInput             map[string]any `json:"updatedInput,omitempty"`
	AdditionalContext        string         `json:"additionalContext,omitempty"`
}

// A hook is a callback with the timeout of its matcher.
type hook struct {
	id       string
	callback HookCallback
	timeout  time.Duration
}

// registerHooks numbers the hooks of all events, in the order of the events' names. It returns what initialize announces.
func registerHooks(events map[string][]HookMatcher) (hooks []hook, announced map[string]any) {
	announced = map[string]any{}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		var matchers []any
		for _, m := range events[event] {
			ids := []string{}
			for _, callback := range m.Hooks {
				ids = append(ids, fmt.Sprintf("hook_%d", len(hooks)))
				hooks = append(hooks, hook{id: ids[len(ids)-1], callback: callback, timeout: m.Timeout})
			}
			matcher := map[string]any{"hookCallbackIds": ids}
			if m.Matcher != "" {
				matcher["matcher"] = m.Matcher
			}
			if m.Timeout > 0 {
				matcher["timeout"] = m.Timeout.Seconds()
			}
			if m.OnFailure != "" {
				matcher["onFailure"] = m.OnFailure
			}
			matchers = append(matchers, matcher)
		}
		if len(matchers) > 0 {
			announced[event] = matchers
		}
	}
	return hooks, announced
}

// A hookCall is a hook_callback request.
type hookCall struct {
	CallbackID string          `json:"callback_id"`
	ToolUseID  string          `json:"tool_use_id"`
	Input      json.RawMessage `json:"input"`
}

func (h hook) run(ctx context.Context, call hookCall) (HookOutput, error) {
	in := HookInput{Raw: call.Input}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return HookOutput{}, fmt.Errorf("input of a hook: %w", err)
	}
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
	}
	out, err := protect(func() (HookOutput, error) { return h.callback(ctx, in, call.ToolUseID) })
	if specific := out.HookSpecificOutput; specific != nil && specific.HookEventName == "" {
		filled := *specific
		filled.HookEventName = in.HookEventName
		out.HookSpecificOutput = &filled
	}
	return out, err
}
