// Command agent-tools gives a coding agent a list of tasks. It shows tools with typed arguments, the history of their calls,
// the states of a session, and a permission policy.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Getenv("AGENT_CLI")); err != nil {
		log.Fatal(err)
	}
}

// run has a session with the CLI; "" is the one in PATH.
func run(ctx context.Context, cli string) error {
	var tasks list
	server, err := tasks.server()
	if err != nil {
		return err
	}
	rules := policy{
		{tool: "mcp__tasks__*", allow: true},
		{tool: "Bash", argument: "command", prefix: "ls", allow: true},
		{tool: "*", why: "only the task list and ls are allowed here"},
	}
	ended := make(chan agentsdk.SessionResult, 1)
	agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{
		CLIPath:        cli,
		MCPServers:     map[string]agentsdk.McpServerConfig{"tasks": server},
		PermissionMode: agentsdk.PermissionDefault,
		CanUseTool:     rules.decide,
		Events: agentsdk.Events{
			OnStateChange: func(c agentsdk.StateChange) {
				fmt.Printf("state: %s, after %d calls%s\n", c.To, c.Info.Stats.ToolCallCount, pending(c.Info))
			},
			OnComplete: func(r agentsdk.SessionResult) { ended <- r }, // the last event
		},
	})
	if err != nil {
		return err
	}
	defer agent.Close(context.WithoutCancel(ctx))
	session, err := agent.StartSession(ctx, agentsdk.SessionConfig{Prompt: "Plan the tea party."})
	if err != nil {
		return err
	}
	var said []string
	for message, err := range session.Messages() {
		if err != nil {
			return err
		}
		if m, ok := message.(*agentsdk.AssistantMessage); ok {
			for _, block := range m.Content {
				said = append(said, strings.Fields(block.Text)...)
			}
		}
	}
	report(session, <-ended, said, tasks.String())
	return nil
}

// pending says what the CLI waits for.
func pending(info agentsdk.SessionStateInfo) string {
	switch {
	case info.PendingPermission != nil:
		return ": may it use " + info.PendingPermission.ToolName + "?"
	case info.PendingToolCall != nil:
		return fmt.Sprintf(": %s %s", info.PendingToolCall.ToolName, info.PendingToolCall.Arguments)
	}
	return ""
}

// report prints what has happened.
func report(s *agentsdk.AgentSession, end agentsdk.SessionResult, said []string, tasks string) {
	fmt.Println("the model:", strings.Join(said, " "))
	for i, call := range s.ToolCallHistory() {
		fmt.Printf("call %d: %s of %s with %s\n", i+1, call.ToolName, call.ServerName, call.Arguments)
	}
	for _, denial := range end.Result.PermissionDenials {
		fmt.Printf("denied: %s %s\n", denial.ToolName, denial.ToolInput)
	}
	fmt.Printf("the end: %s, success %v, $%.3f\n%s\n", s.GetState().State, end.Success, end.Result.TotalCostUSD, tasks)
}
