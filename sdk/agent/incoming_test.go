package agentsdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// whoServer has two tools that return the name of their goroutine; one does something before.
func whoServer(t *testing.T, before func()) *agentsdk.McpSdkServerConfig {
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
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "who", Tools: []agentsdk.SdkTool{tool("now", func() {}), tool("later", before)}})
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
		var running atomic.Int32
		r := newRig(t, func(o *agentsdk.AgentOptions) {
			o.MCPServers["who"] = whoServer(t, func() { running.Add(1); <-gate })
		})
		first := r.ask("a", callWho(1, "now"))
		second := strings.Replace(r.ask("b", callWho(2, "now")), `"id":2`, `"id":1`, 1)
		if first == "" || first != second {
			t.Errorf("the second call has another goroutine: %s, %s", first, second)
		}
		for i := range 100 {
			r.ask(fmt.Sprint("burst ", i), callWho(10+i, "later"))
		}
		if n := running.Load(); n != 100 {
			t.Errorf("%d calls run at the same time, want 100", n)
		}
		close(gate)
		synctest.Wait()
		if idle := agentsdk.IdleGoroutines(r.s); idle != 32 {
			t.Errorf("%d goroutines are idle, want 32", idle)
		}
		if r.response("burst 99") == "" {
			t.Error("a call has no response")
		}
	})
}
