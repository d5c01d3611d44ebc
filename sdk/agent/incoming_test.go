package agentsdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// whoServer has a tool that returns the name of its goroutine, and one that waits for a gate.
func whoServer(t *testing.T, gate <-chan struct{}) *agentsdk.McpSdkServerConfig {
	t.Helper()
	tool := func(name string, run func()) agentsdk.SdkTool {
		made, err := agentsdk.RawTool(name, name, agentsdk.SimpleSchema(), func(context.Context, json.RawMessage, agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			run()
			stack := make([]byte, 64)
			return agentsdk.TextResult(strings.Fields(string(stack[:runtime.Stack(stack, false)]))[1]), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "who", Tools: []agentsdk.SdkTool{tool("now", func() {}), tool("later", func() { <-gate })}})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func callWho(id int, tool string) string {
	return fmt.Sprintf(`{"subtype":"mcp_message","server_name":"who","message":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}}`, id, tool)
}

func TestCallsShareGoroutinesAndABurstLeavesFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRig(t, func(o *agentsdk.AgentOptions) { o.MCPServers["who"] = whoServer(t, gate) })
		first := r.ask("a", callWho(1, "now"))
		second := strings.Replace(r.ask("b", callWho(2, "now")), `"id":2`, `"id":1`, 1)
		if first == "" || first != second {
			t.Errorf("the second call has another goroutine: %s, %s", first, second)
		}
		before := runtime.NumGoroutine()
		for i := range 100 {
			r.ask(fmt.Sprint("burst ", i), callWho(10+i, "later"))
		}
		if during := runtime.NumGoroutine(); during < before+99 {
			t.Errorf("%d goroutines, were %d: the calls do not run at the same time", during, before)
		}
		close(gate)
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before+40 { // some that have ended may still be counted
			t.Errorf("%d goroutines, were %d: more than 32 are idle", after, before)
		}
		if r.response("burst 99") == "" {
			t.Error("a call has no response")
		}
	})
}
