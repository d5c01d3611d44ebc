package agentsdk

import (
	"context"
	"encoding/json"
)

// CanUseTool answers whether the CLI may use a tool. It is called concurrently. The context ends when the CLI withdraws
// the question, and at shutdown. An error denies the call.
type CanUseTool func(ctx context.Context, toolName string, input map[string]any, pc PermissionContext) (PermissionResult, error)

// A PermissionContext says more about a question.
type PermissionContext struct {
	RequestID      string             `json:"-"`
	ToolUseID      string             `json:"tool_use_id"`
	AgentID        string             `json:"agent_id"`
	BlockedPath    string             `json:"blocked_path"`
	DecisionReason string             `json:"decision_reason"`
	Title          string             `json:"title"`
	DisplayName    string             `json:"display_name"`
	Description    string             `json:"description"`
	Suggestions    []PermissionUpdate `json:"permission_suggestions"` // updates that would allow it
	McpServer      *McpServerRef      `json:"mcp_server"`
	Raw            json.RawMessage    `json:"-"` // the whole request
}

// An McpServerRef names the server of a tool.
type McpServerRef struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// A PermissionUpdate changes the permissions of the session, or those in a file.
type PermissionUpdate struct {
	Type        string           `json:"type"` // addRules, replaceRules, removeRules, setMode, addDirectories or removeDirectories
	Rules       []PermissionRule `json:"rules,omitempty"`
	Behavior    string           `json:"behavior,omitempty"` // allow, deny or ask
	Mode        string           `json:"mode,omitempty"`
	Directories []string         `json:"directories,omitempty"`
	Destination string           `json:"destination,omitempty"` // session, localSettings, projectSettings or userSettings
}

// A PermissionRule matches calls of a tool.
type PermissionRule struct {
	ToolName    string `json:"toolName"`
	RuleContent string `json:"ruleContent,omitempty"`
}

// A PermissionResult is the answer to a question. [Allow], [AllowWith], [Deny] and [DenyAndInterrupt] make one; the zero
// value denies.
type PermissionResult struct {
	allow     bool
	input     map[string]any
	updates   []PermissionUpdate
	message   string
	interrupt bool
}

// Allow runs the tool as it was asked for.
func Allow() PermissionResult { return PermissionResult{allow: true} }

// AllowWith runs the tool with another input, or with its own if input is nil, and changes the permissions.
func AllowWith(input map[string]any, updates ...PermissionUpdate) PermissionResult {
	return PermissionResult{allow: true, input: input, updates: updates}
}

// Deny refuses the call. The model sees the message.
func Deny(msg string) PermissionResult { return PermissionResult{message: msg} }

// DenyAndInterrupt refuses the call and ends the turn.
func DenyAndInterrupt(msg string) PermissionResult {
	return PermissionResult{message: msg, interrupt: true}
}

// payload returns what the CLI reads.
func (r PermissionResult) payload(toolUseID string) map[string]any {
	p := map[string]any{}
	if toolUseID != "" {
		p["toolUseID"] = toolUseID
	}
	if !r.allow {
		p["behavior"], p["message"] = "deny", r.message
		if r.message == "" {
			p["message"] = "Permission denied."
		}
		if r.interrupt {
			p["interrupt"] = true
		}
		return p
	}
	p["behavior"] = "allow"
	if r.input != nil {
		p["updatedInput"] = r.input
	}
	if len(r.updates) > 0 {
		p["updatedPermissions"] = r.updates
	}
	return p
}

// A question is a can_use_tool request.
type question struct {
	PermissionContext
	ToolName string         `json:"tool_name"`
	Input    map[string]any `json:"input"`
}

// An ElicitationRequest is a question of an MCP server to the user.
type ElicitationRequest struct {
	ServerName      string          `json:"mcp_server_name"`
	Message         string          `json:"message"`
	Mode            string          `json:"mode"`
	RequestedSchema json.RawMessage `json:"requested_schema"`
	URL             string          `json:"url"`
}

// An ElicitationResult answers it: accept with content, decline or cancel.
type ElicitationResult struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}
