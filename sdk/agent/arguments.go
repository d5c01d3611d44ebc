package agentsdk

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// version is what the CLI is told about this package.
const version = "0.1.0"

// transportOptions say how the CLI is started, in a folder.
func (o *AgentOptions) transportOptions(cwd string) (TransportOptions, error) {
	args, err := o.arguments()
	env := map[string]string{
		"CLAUDE_CODE_ENTRYPOINT": "sdk-go", "CLAUDE_AGENT_SDK_VERSION": version, "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
	}
	maps.Copy(env, o.Env)
	return TransportOptions{
		CLIPath: o.CLIPath, Args: args, Cwd: cwd, Env: env, CleanEnv: o.CleanEnv, MaxLineBytes: o.MaxLineBytes,
		ShutdownGrace: o.ShutdownGrace, KillGrace: o.KillGrace, Stderr: o.Stderr,
	}, err
}

// arguments returns the arguments of the options that are set.
func (o *AgentOptions) arguments() ([]string, error) {
	var a arguments
	a.list("allowedTools", o.AllowedTools, false)
	a.list("disallowedTools", o.DisallowedTools, false)
	a.list("tools", o.Tools, true)
	a.value("permission-mode", o.PermissionMode)
	a.flag("allow-dangerously-skip-permissions", o.AllowDangerouslySkipPermissions)
	if o.CanUseTool != nil {
		a.value("permission-prompt-tool", "stdio")
	}
	a.value("permission-prompt-tool", o.PermissionPromptToolName)
	a.value("model", o.Model)
	a.value("fallback-model", o.FallbackModel)
	if o.MaxTurns > 0 {
		a.value("max-turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD > 0 {
		a.value("max-budget-usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	if o.MaxThinkingTokens != nil {
		a.value("max-thinking-tokens", strconv.Itoa(*o.MaxThinkingTokens))
	}
	if servers := o.external(); len(servers) > 0 && !o.byInitialize() {
		text, err := encode(map[string]any{"mcpServers": servers})
		if err != nil {
			return nil, &OptionError{Option: "MCPServers", Message: err.Error()}
		}
		a = append(a, "--mcp-config", string(text))
	}
	o.sessionArguments(&a)
	return a, nil
}

func (o *AgentOptions) sessionArguments(a *arguments) {
	a.flag("await-initialize", o.byInitialize())
	a.flag("strict-mcp-config", o.StrictMCPConfig)
	a.value("resume", o.Resume)
	a.flag("fork-session", o.ForkSession)
	a.value("resume-session-at", o.ResumeSessionAt)
	a.flag("continue", o.Continue)
	a.value("session-id", o.SessionID)
	a.flag("include-partial-messages", o.IncludePartialMessages)
	a.flag("include-hook-events", o.IncludeHookEvents)
	for _, dir := range o.AddDirs {
		a.value("add-dir", dir)
	}
	a.list("setting-sources", o.SettingSources, true)
	if o.Settings != "" {
		*a = append(*a, "--settings", o.Settings)
	}
	a.value("agent", o.Agent)
	a.value("json-schema", string(o.JSONSchema))
	a.value("effort", o.Effort)
	a.flag("no-session-persistence", o.NoSessionPersistence)
	a.flag("debug", o.Debug)
	a.value("debug-file", o.DebugFile)
	for _, key := range slices.Sorted(maps.Keys(o.ExtraArgs)) {
		a.flag(key, true)
		if v := o.ExtraArgs[key]; v != nil {
			*a = append(*a, *v)
		}
	}
}

// arguments is a command line. An option that is not set adds nothing.
type arguments []string

func (a *arguments) flag(name string, on bool) {
	if on {
		*a = append(*a, "--"+name)
	}
}

func (a *arguments) value(name, v string) {
	if v != "" {
		*a = append(*a, "--"+name+"="+v)
	}
}

// list adds a list. An empty one counts if it says something else than nil.
func (a *arguments) list(name string, items []string, emptyCounts bool) {
	if len(items) > 0 || items != nil && emptyCounts {
		*a = append(*a, "--"+name+"="+strings.Join(items, ","))
	}
}
