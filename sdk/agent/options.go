package agentsdk

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// The permission modes.
const (
	PermissionDefault           = "default"
	PermissionAcceptEdits       = "acceptEdits"
	PermissionPlan              = "plan"
	PermissionBypassPermissions = "bypassPermissions"
	PermissionDontAsk           = "dontAsk"
	PermissionAuto              = "auto"
)

// AgentOptions configure the CLI of a session. The zero value starts "claude" in the working directory, with its own
// settings. For slices, nil leaves the CLI's default, and an empty one means none.
type AgentOptions struct {
	CLIPath  string // default: claude, in PATH
	Cwd      string
	Env      map[string]string // added to the environment of this program
	CleanEnv bool              // use Env alone

	MCPServers           map[string]McpServerConfig // by the name that the model sees
	MCPServersDelivery   string                     // "initialize" keeps env and headers of servers off the command line
	StrictMCPConfig      bool                       // use no other MCP servers
	AllowedTools         []string                   // need no permission
	DisallowedTools      []string                   // are hidden from the model
	Tools                []string                   // the built-in ones; "default" is all of them
	PermissionMode       string
	CanUseTool           CanUseTool // answers what the CLI asks; without it, the CLI denies
	Hooks                map[string][]HookMatcher
	OnElicitation        func(ctx context.Context, r ElicitationRequest) (ElicitationResult, error)
	SystemPrompt         *SystemPrompt // nil: the CLI's own
	Agents               map[string]AgentDefinition
	Agent                string // which of them leads
	Model                string
	FallbackModel        string
	Effort               string // low, medium, high, xhigh or max
	MaxTurns             int
	MaxBudgetUSD         float64
	MaxThinkingTokens    *int
	JSONSchema           JSONSchema // of the structured output
	AddDirs              []string
	SettingSources       []string // user, project, local
	Settings             string   // a file, or JSON
	Resume               string   // the id of the session to continue
	ResumeSessionAt      string   // the UUID of a message of it
	ForkSession          bool     // continue it under another id
	Continue             bool     // continue the last session of the folder
	SessionID            string   // a UUID
	NoSessionPersistence bool

	AllowDangerouslySkipPermissions bool
	PermissionPromptToolName        string // an MCP tool that answers instead of CanUseTool
	IncludePartialMessages          bool   // yields StreamEvents
	IncludeHookEvents               bool
	Debug                           bool
	DebugFile                       string
	ExtraArgs                       map[string]*string // --key, or --key value
	InitializeExtra                 map[string]any     // further fields of the initialize request
	DisableManifests                bool

	Events                 Events
	Stderr                 func(string)
	MaxLineBytes           int // of a line of the CLI, default 64 MiB; negative means no limit
	MaxConcurrentToolCalls int // 0 means no limit

	// A zero time means the default, and a negative one none.
	InitializeTimeout, RequestTimeout, ShutdownGrace, KillGrace time.Duration

	RequestIDFunc func() string                      // makes the ids of requests, for tests
	NewTransport  func(o TransportOptions) Transport // default: NewSubprocessTransport
}

// A SystemPrompt replaces the CLI's system prompt by Text. With Preset "claude_code", it adds Append to it.
type SystemPrompt struct{ Text, Preset, Append string }

// An AgentDefinition is a subagent.
type AgentDefinition struct {
	Description string   `json:"description"`
	Prompt      string   `json:"prompt"`
	Tools       []string `json:"tools,omitempty"`
	Model       string   `json:"model,omitempty"`
}

// Events are called one after the other, in order, on a goroutine of their own: they may take time, and may use the
// session. nil ones are not called. Sessions of an agent do not wait for each other.
type Events struct {
	OnMessage     func(Message)
	OnToolCall    func(ToolCallInfo)   // when a tool begins
	OnToolResult  func(ToolResultInfo) // after its response was written
	OnStateChange func(StateChange)
	OnComplete    func(SessionResult) // once, in a terminal state
	OnError       func(error)         // what has ended the session
	OnWarning     func(string)        // such as a line that is not JSON
}

func (o *AgentOptions) check() error {
	problem := func(option, message string) error { return &OptionError{Option: option, Message: message} }
	switch {
	case o.CanUseTool != nil && o.PermissionPromptToolName != "":
		return problem("PermissionPromptToolName", "CanUseTool answers the same questions: set one of them")
	case o.Resume != "" && o.Continue:
		return problem("Continue", "Resume names another session: set one of them")
	case o.SessionID != "" && uuid.Validate(o.SessionID) != nil:
		return problem("SessionID", "it is not a UUID")
	case o.SessionID != "" && (o.Resume != "" || o.Continue) && !o.ForkSession:
		return problem("SessionID", "the continued session has an id: set ForkSession, or leave it out")
	case o.SystemPrompt != nil && o.SystemPrompt.Preset != "" && o.SystemPrompt.Preset != "claude_code":
		return problem("SystemPrompt", `the only preset is "claude_code"`)
	case o.SystemPrompt != nil && o.SystemPrompt.Preset != "" && o.SystemPrompt.Text != "":
		return problem("SystemPrompt", "with a preset, write Append instead of Text")
	case o.MCPServersDelivery != "" && o.MCPServersDelivery != "initialize":
		return problem("MCPServersDelivery", `write "initialize", or leave it out`)
	}
	if err := o.checkHooks(); err != nil {
		return err
	}
	return o.checkServers()
}

func (o *AgentOptions) checkHooks() error {
	for _, event := range slices.Sorted(maps.Keys(o.Hooks)) {
		for _, m := range o.Hooks[event] {
			if len(m.Hooks) == 0 || slices.ContainsFunc(m.Hooks, func(c HookCallback) bool { return c == nil }) {
				return &OptionError{Option: "Hooks", Message: event + ": a matcher has no function"}
			}
			if !slices.Contains([]string{"", "continue", "block"}, m.OnFailure) {
				return &OptionError{Option: "Hooks", Message: event + `: OnFailure is "continue" or "block"`}
			}
		}
	}
	return nil
}

func (o *AgentOptions) checkServers() error {
	for _, name := range slices.Sorted(maps.Keys(o.MCPServers)) {
		what := ""
		switch server := o.MCPServers[name].(type) {
		case McpStdioServerConfig:
			if server.Command == "" {
				what = "Command is missing"
			}
		case McpHttpServerConfig:
			if server.URL == "" || !slices.Contains([]string{"", "http", "sse"}, server.Type) {
				what = `it needs a URL, and Type "http" or "sse"`
			}
		case *McpSdkServerConfig:
			if server == nil {
				what = "it is nil"
			}
		default:
			what = "it is nil"
		}
		if what != "" {
			return &OptionError{Option: "MCPServers", Message: name + ": " + what}
		}
	}
	return nil
}

// external returns the servers that the CLI starts or calls.
func (o *AgentOptions) external() map[string]McpServerConfig {
	servers := map[string]McpServerConfig{}
	for name, server := range o.MCPServers {
		if _, ours := server.(*McpSdkServerConfig); !ours {
			servers[name] = server
		}
	}
	return servers
}

// inProcess returns the servers in this program.
func (o *AgentOptions) inProcess() map[string]*McpSdkServerConfig {
	servers := map[string]*McpSdkServerConfig{}
	for name, server := range o.MCPServers {
		if ours, ok := server.(*McpSdkServerConfig); ok {
			servers[name] = ours
		}
	}
	return servers
}

func (o *AgentOptions) byInitialize() bool {
	return o.MCPServersDelivery == "initialize" && len(o.external()) > 0
}

// protocol returns the options of the handler.
func (o *AgentOptions) protocol() ProtocolOptions {
	fields := maps.Clone(o.InitializeExtra)
	if fields == nil {
		fields = map[string]any{}
	}
	if p := o.SystemPrompt; p != nil && p.Preset == "" {
		fields["systemPrompt"] = []string{p.Text}
	} else if p != nil && p.Append != "" {
		fields["appendSystemPrompt"] = p.Append
	}
	if len(o.Agents) > 0 {
		fields["agents"] = o.Agents
	}
	if o.JSONSchema != nil {
		fields["jsonSchema"] = o.JSONSchema
	}
	if o.byInitialize() {
		fields["mcpServers"] = o.external()
	}
	return ProtocolOptions{
		CanUseTool: o.CanUseTool, Hooks: o.Hooks, OnElicitation: o.OnElicitation, Initialize: fields, DisableManifests: o.DisableManifests,
		MaxConcurrentToolCalls: o.MaxConcurrentToolCalls, InitializeTimeout: o.InitializeTimeout, RequestTimeout: o.RequestTimeout, RequestIDFunc: o.RequestIDFunc,
	}
}
