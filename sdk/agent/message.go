package agentsdk

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Message is one line of the CLI. The concrete type is *SystemMessage, *AssistantMessage, *UserMessage, *ResultMessage,
// *StreamEvent, or *RawMessage for every other type.
type Message interface {
	Type() string
	SessionID() string
	Raw() json.RawMessage // the whole line, with the members that the type does not have
}

// An envelope has what all messages share.
type envelope struct {
	UUID string
	typ  string
	id   string
	raw  json.RawMessage
}

// Type returns the line's type.
func (e *envelope) Type() string { return e.typ }

// SessionID returns the CLI's id of the session; "" if the line has none.
func (e *envelope) SessionID() string { return e.id }

// Raw returns the whole line. The caller must not change it.
func (e *envelope) Raw() json.RawMessage { return e.raw }

// A SystemMessage reports something about the session. Subtype "init" begins every turn.
type SystemMessage struct {
	envelope
	Subtype string
}

// A SystemInit describes the session at the beginning of a turn.
type SystemInit struct {
	SessionID      string            `json:"session_id"`
	Cwd            string            `json:"cwd"`
	Model          string            `json:"model"`
	PermissionMode string            `json:"permissionMode"`
	Tools          []string          `json:"tools"`
	MCPServers     []MCPServerStatus `json:"mcp_servers"`
	SlashCommands  []string          `json:"slash_commands"`
	APIKeySource   string            `json:"apiKeySource"`
	OutputStyle    string            `json:"output_style"`
	CLIVersion     string            `json:"claude_code_version"`
	Capabilities   []string          `json:"capabilities"`
}

// An MCPServerStatus says whether the CLI can use an MCP server: connected, failed, needs-auth, pending or disabled.
type MCPServerStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Source string `json:"source"`
}

// Init returns the members of subtype init.
func (m *SystemMessage) Init() (*SystemInit, bool) {
	init := new(SystemInit)
	return init, m.Subtype == "init" && json.Unmarshal(m.raw, init) == nil
}

// An AssistantMessage has one content block of the model's reply. A reply of several blocks is several messages with the
// same ID.
type AssistantMessage struct {
	envelope
	ID, Model       string
	Content         []ContentBlock
	ParentToolUseID string // set for a subagent
	Error           string // such as "rate_limit", for a message that the CLI has made itself
	Aborted         bool
	Usage           json.RawMessage
}

// A UserMessage has tool results, or text that the CLI has added.
type UserMessage struct {
	envelope
	Content         []ContentBlock
	ParentToolUseID string
	IsReplay        bool
	IsSynthetic     bool
	ToolUseResult   json.RawMessage
}

// A ResultMessage ends a turn.
type ResultMessage struct {
	envelope
	Subtype           string             `json:"subtype"`
	IsError           bool               `json:"is_error"`
	Result            string             `json:"result"` // the final text, with subtype success
	Errors            []string           `json:"errors"` // for diagnosis, with the other subtypes
	TerminalReason    string             `json:"terminal_reason"`
	NumTurns          int                `json:"num_turns"`
	DurationMS        float64            `json:"duration_ms"`
	TotalCostUSD      float64            `json:"total_cost_usd"` // of the whole session
	Usage             json.RawMessage    `json:"usage"`          // of this turn
	ModelUsage        json.RawMessage    `json:"modelUsage"`     // of the whole session
	StructuredOutput  json.RawMessage    `json:"structured_output"`
	PermissionDenials []PermissionDenial `json:"permission_denials"`
}

// A PermissionDenial is a tool call that was denied.
type PermissionDenial struct {
	ToolName  string          `json:"tool_name"`
	ToolUseID string          `json:"tool_use_id"`
	ToolInput json.RawMessage `json:"tool_input"`
}

// Success reports whether the turn did what was asked: its subtype is success, and it is not an error of the API.
func (r *ResultMessage) Success() bool { return r.Subtype == "success" && !r.IsError }

// Interrupted reports whether an interrupt has ended the turn.
func (r *ResultMessage) Interrupted() bool { return strings.HasPrefix(r.TerminalReason, "aborted_") }

// A StreamEvent is a raw event of the model's API. It comes only with IncludePartialMessages.
type StreamEvent struct {
	envelope
	Event           json.RawMessage
	ParentToolUseID string
}

// A RawMessage is a message of a type that this package does not know.
type RawMessage struct{ envelope }

// A ContentBlock is text, thinking, a tool use, a tool result, or another block, whose Raw has everything.
type ContentBlock struct {
	Type      string
	Text      string          // of text and thinking
	ID, Name  string          // of tool_use
	ToolUseID string          // of tool_result
	Input     json.RawMessage // of tool_use
	Content   json.RawMessage // of tool_result: a string or a list of blocks
	IsError   bool
	Raw       json.RawMessage
}

// parseMessage reads a line that is a JSON object. The message keeps the line. Members of other types than expected are left
// out.
func parseMessage(typ string, line json.RawMessage) Message {
	e := envelope{typ: typ, raw: line}
	var known map[string]json.RawMessage
	if slices.Contains([]string{"system", "assistant", "user", "result", "stream_event"}, typ) {
		known = make(map[string]json.RawMessage)
	}
	for name, value := range members(line) {
		switch name {
		case "session_id":
			e.id, _ = stringOf(value)
		case "uuid":
			e.UUID, _ = stringOf(value)
		default:
			if known != nil {
				known[name] = value
			}
		}
	}
	text := func(name string) string { s, _ := stringOf(known[name]); return s }
	is := func(name string) bool { return kindOf(known[name]) == 't' }
	switch typ {
	case "system":
		return &SystemMessage{envelope: e, Subtype: text("subtype")}
	case "assistant":
		m := &AssistantMessage{envelope: e, ParentToolUseID: text("parent_tool_use_id"), Error: text("error"), Aborted: is("aborted")}
		for name, value := range members(known["message"]) {
			switch name {
			case "id":
				m.ID, _ = stringOf(value)
			case "model":
				m.Model, _ = stringOf(value)
			case "usage":
				m.Usage = value
			case "content":
				m.Content = contentOf(value)
			}
		}
		return m
	case "user":
		m := &UserMessage{envelope: e, ParentToolUseID: text("parent_tool_use_id"), IsReplay: is("isReplay"), IsSynthetic: is("isSynthetic"), ToolUseResult: known["tool_use_result"]}
		for name, value := range members(known["message"]) {
			if name == "content" {
				m.Content = contentOf(value)
			}
		}
		return m
	case "stream_event":
		return &StreamEvent{envelope: e, Event: known["event"], ParentToolUseID: text("parent_tool_use_id")}
	case "result":
		m := &ResultMessage{envelope: e}
		if json.Unmarshal(line, m) != nil { // a member has another type than expected
			return &ResultMessage{envelope: e, Subtype: text("subtype"), IsError: is("is_error"), TerminalReason: text("terminal_reason"), Result: text("result")}
		}
		return m
	}
	return &RawMessage{envelope: e}
}

// contentOf reads a list of blocks. A string is one text block.
func contentOf(value json.RawMessage) []ContentBlock {
	if text, ok := stringOf(value); ok {
		return []ContentBlock{{Type: "text", Text: text, Raw: value}}
	}
	var blocks []ContentBlock
	for element := range elements(value) {
		b := ContentBlock{Raw: element}
		for name, value := range members(element) {
			switch name {
			case "type":
				b.Type, _ = stringOf(value)
			case "text", "thinking":
				b.Text, _ = stringOf(value)
			case "id":
				b.ID, _ = stringOf(value)
			case "name":
				b.Name, _ = stringOf(value)
			case "tool_use_id":
				b.ToolUseID, _ = stringOf(value)
			case "input":
				b.Input = value
			case "content":
				b.Content = value
			case "is_error":
				b.IsError = kindOf(value) == 't'
			}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// promptLine is the line that sends a prompt.
func promptLine(prompt string) (json.RawMessage, error) {
	return encode(map[string]any{
		"type": "user", "parent_tool_use_id": nil, "session_id": "",
		"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": prompt}}},
	})
}
