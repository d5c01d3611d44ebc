//go:build linux

package agentsdk_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// BenchmarkCalls measures how many tool calls a CLI can make through its pipes, one after the other and 32 at a time. The
// baselines are a program that answers with bytes that it has prepared, and the published SDK, with the same CLI. The
// processes share the processors.
func BenchmarkCalls(b *testing.B) {
	const calls = 4000 // per round
	for _, window := range []int{1, 32} {
		for _, baseline := range []struct {
			name  string
			start func(*testing.B) turnOf
		}{{"pipe", startPipe}, {"published", startPublished}} {
			b.Run(fmt.Sprintf("window=%d/%s", window, baseline.name), func(b *testing.B) {
				prompt := fmt.Sprint(calls, " ", window)
				side := func(name string, run turnOf) ratio.Candidate {
					return ratio.Candidate{Name: name, Round: func() ratio.Cost {
						cost := ratio.Of(func() {
							if err := run(prompt); err != nil {
								b.Fatal(err)
							}
						})
						cost.CPU = 0 // a part of it is that of other processes
						return cost
					}}
				}
				ours, theirs := ratio.Report(b, calls, side("go", startGo(b)), side(baseline.name, baseline.start(b)))
				b.ReportMetric(1/ours.Seconds(), "go-calls/s")
				b.ReportMetric(1/theirs.Seconds(), baseline.name+"-calls/s")
			})
		}
	}
}

// A turnOf runs a turn of the CLI "calls".
type turnOf func(prompt string) error

func startGo(b *testing.B) turnOf {
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calc", Tools: []agentsdk.SdkTool{adder(nil)}})
	if err != nil {
		b.Fatal(err)
	}
	o := options(b, "calls")
	o.MCPServers = map[string]agentsdk.McpServerConfig{"calc": server}
	client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: o})
	if err != nil {
		b.Fatal(err)
	}
	if err := client.Connect(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return func(prompt string) error {
		if err := client.Query(b.Context(), prompt); err != nil {
			return err
		}
		for _, err := range client.ReceiveResponse(b.Context()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// startPipe answers each line of the CLI with the same bytes as the SDK, and without reading it.
func startPipe(b *testing.B) turnOf {
	o := options(b, "calls")
	cmd := exec.Command(o.CLIPath)
	for name, value := range o.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	in, out := startProgram(b, cmd)
	turn := func(line string) error {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			return err
		}
		for {
			line, err := out.ReadSlice('\n')
			switch {
			case err != nil:
				return err
			case !bytes.Contains(line, []byte(`"mcp_message"`)): // the answer to initialize, or a result
				return nil
			}
			if _, err := in.Write([]byte(callAnswer + "\n")); err != nil {
				return err
			}
		}
	}
	if err := turn(`{"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}`); err != nil {
		b.Fatal(err)
	}
	return func(prompt string) error {
		return turn(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"` + prompt + `"}]}}`)
	}
}

// callAnswer is what the SDK answers to a call.
const callAnswer = `{"type":"control_response","response":{"subtype":"success","request_id":"c1000","response":{"mcp_response":{"jsonrpc":"2.0","id":1000,"result":{"content":[{"text":"3","type":"text"}]}}}}}`

// startPublished starts the driver of the published SDK, which make bench-agent-sdk installs.
func startPublished(b *testing.B) turnOf {
	driver := filepath.Join("..", "agent-parity", "dist", "driver.js")
	if _, err := os.Stat(driver); err != nil {
		b.Skipf("the published SDK is not installed, so nothing was compared with it: run make bench-agent-sdk, which fetches it: %v", err)
	}
	cmd := exec.Command("node", driver)
	cmd.Stderr = os.Stderr
	in, out := startProgram(b, cmd)
	do := func(action string, with any) error {
		line, err := json.Marshal(object{"id": 1, "do": action, "with": with})
		if err != nil {
			return err
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			return err
		}
		line, err = out.ReadBytes('\n')
		var outcome struct {
			OK    struct{ Error any }
			Error any
		}
		if err == nil {
			err = json.Unmarshal(line, &outcome)
		}
		if err == nil && (outcome.Error != nil || outcome.OK.Error != nil) {
			err = fmt.Errorf("%s: %s", action, line)
		}
		return err
	}
	o := options(b, "calls")
	add := object{"name": "add", "description": "Add two numbers", "input": object{"a": "number", "b": "number"}, "do": object{"add": true}}
	if err := do("connect", object{"options": object{
		"cliPath": o.CLIPath, "env": o.Env, "servers": object{"calc": object{"tools": []any{add}}},
	}}); err != nil {
		b.Fatal(err)
	}
	return func(prompt string) error { return do("query", object{"prompt": prompt}) }
}

// startProgram starts a program that ends with its input, at the end of the benchmark.
func startProgram(b *testing.B, cmd *exec.Cmd) (io.Writer, *bufio.Reader) {
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it has ended
	})
	return in, bufio.NewReader(out)
}
