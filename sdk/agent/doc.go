// Package agentsdk runs a coding-agent CLI from a Go program. It starts the CLI as a child process, gives it tools that are
// Go functions of the program, answers its questions, and follows what it does.
//
//	type operands struct {
//		A float64 `json:"a" jsonschema:"description=left"`
//		B float64 `json:"b"`
//	}
//
//	add := agentsdk.MustTool("add", "Add two numbers", func(ctx context.Context, in operands, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
//		return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil // an error is shown to the model
//	})
//	calculator, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calculator", Tools: []agentsdk.SdkTool{add}})
//	...
//	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{
//		MCPServers:   map[string]agentsdk.McpServerConfig{"calc": calculator},
//		AllowedTools: []string{"mcp__calc__add"},
//	})
//	...
//	defer agent.Close(ctx)
//	session, err := agent.StartSession(ctx, agentsdk.SessionConfig{Prompt: "Add 15 and 27"})
//	...
//	for message, err := range session.Messages() {
//		...
//	}
//
// # Which type do I want?
//
//   - A [ClaudeCodeAgent] runs one prompt in each session. [AgentSession.Messages] yields what happens, and
//     [AgentSession.WaitForCompletion] waits for the end.
//   - A [ClaudeCodeClient] has a conversation: [ClaudeCodeClient.Query] sends a prompt, and
//     [ClaudeCodeClient.ReceiveResponse] yields the turn up to its [ResultMessage].
//   - [Tool] makes a tool from a function, with the JSON Schema of its input type. [RawTool] takes any schema.
//   - [CanUseTool] decides what the CLI may do, a [HookCallback] is called when it does something, and [Events] tell what
//     happens.
//   - [SessionStateManager], [ControlProtocolHandler] and [SubprocessTransport] are the parts of a session, for programs
//     that need one alone.
//   - Package agenttest plays the CLI in tests.
//
// # What is guaranteed
//
//   - Messages come in the order of the wire, and are kept until they are read. A program that never reads them still
//     serves tools and questions.
//   - Events come in order, one at a time. Tools and callbacks run at the same time, each in a goroutine of its own. All may
//     use the session, and none can block its reader.
//   - After [AgentSession.Cancel], [ClaudeCodeAgent.Close] or [ClaudeCodeClient.Disconnect] has returned, the child process
//     has ended. It also ends when the program is killed.
//   - Each error has a code ([ClaudeCodeAgentError]), a sentinel for errors.Is and a type for errors.As.
//
// The behaviour is that of docs/behaviour/agent-sdk.md.
package agentsdk
