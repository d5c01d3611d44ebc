package agentsdk_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
	"github.com/lockstep-dev/lockstep/sdk/agent/agenttest"
)

// An agent runs one prompt with a tool of the program. Here agenttest plays the CLI; without NewTransport, "claude" is
// started.
func ExampleClaudeCodeAgent() {
	ctx := context.Background()
	type operands struct {
		A float64 `json:"a" jsonschema:"description=left"`
		B float64 `json:"b"`
	}
	add := agentsdk.MustTool("add", "Add two numbers", func(ctx context.Context, in operands, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil
	})
	calculator, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calculator", Tools: []agentsdk.SdkTool{add}})
	if err != nil {
		log.Fatal(err)
	}
	mock := agenttest.NewMockTransport(agenttest.MockTransportOptions{})
	cli, err := agenttest.NewMockClaudeSession(mock, agenttest.CalculatorScenario())
	if err != nil {
		log.Fatal(err)
	}
	defer cli.Close()
	cli.Play("Add 15 and 27")

	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{
		MCPServers:   map[string]agentsdk.McpServerConfig{"calc": calculator},
		AllowedTools: []string{"mcp__calc__add"},
		NewTransport: mock.For,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close(ctx)
	session, err := agent.StartSession(ctx, agentsdk.SessionConfig{Prompt: "Add 15 and 27"})
	if err != nil {
		log.Fatal(err)
	}
	for message, err := range session.Messages() {
		if err != nil {
			log.Fatal(err)
		}
		switch m := message.(type) {
		case *agentsdk.AssistantMessage:
			for _, block := range m.Content {
				fmt.Println(block.Type, block.Text+block.Name)
			}
		case *agentsdk.UserMessage:
			fmt.Println(m.Content[0].Type, string(m.Content[0].Content))
		case *agentsdk.ResultMessage:
			fmt.Println("success:", m.Success())
		}
	}
	// Output:
	// text I will add the numbers.
	// tool_use mcp__calc__add
	// tool_result [{"type":"text","text":"42"}]
	// text The sum is 42.
	// success: true
}

// A client has a conversation of several turns, and decides what the CLI may do.
func ExampleClaudeCodeClient() {
	ctx := context.Background()
	client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{
		PermissionMode: agentsdk.PermissionDefault,
		CanUseTool: func(ctx context.Context, tool string, input map[string]any, pc agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
			if tool == "Bash" {
				return agentsdk.Deny("no shell in this project"), nil
			}
			return agentsdk.Allow(), nil
		},
		NewTransport: (&chat{}).transport, // a CLI that repeats what it is asked
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Connect(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Disconnect(ctx)
	for _, prompt := range []string{"What is in this folder?", "Which file is the largest?"} {
		if err := client.Query(ctx, prompt); err != nil {
			log.Fatal(err)
		}
		for message, err := range client.ReceiveResponse(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			if result, ok := message.(*agentsdk.ResultMessage); ok {
				fmt.Println(result.Result)
			}
		}
	}
	// Output:
	// What is in this folder?
	// Which file is the largest?
}

// Errors have a sentinel and a type.
func ExampleClaudeCodeAgentError() {
	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{CLIPath: "/no/such/cli"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = agent.StartSession(context.Background(), agentsdk.SessionConfig{Prompt: "Hello"})
	var missing *agentsdk.CLINotFoundError
	fmt.Println(errors.Is(err, agentsdk.ErrCLINotFound), errors.As(err, &missing))
	fmt.Println(missing.Code(), missing.Path)
	// Output:
	// true true
	// CLI_NOT_FOUND /no/such/cli
}
