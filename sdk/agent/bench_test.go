//go:build linux

package agentsdk_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

func TestManyCallsAtOnce(t *testing.T) {
	var running, most atomic.Int32
	server, err := agentsdk.CreateSdkMcpServer(agentsdk.SdkMcpServerOptions{Name: "calc", Tools: []agentsdk.SdkTool{adder(func() {
		now := running.Add(1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		runtime.Gosched()
		running.Add(-1)
	})}})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "calls")
	o.MCPServers = map[string]agentsdk.McpServerConfig{"calc": server}
	o.MaxConcurrentToolCalls = 4
	_, result, err := one(t, o, "2000 100")
	if err != nil || !result.Success || result.Stats.ToolCallCount != 2000 || most.Load() > 4 {
		t.Errorf("%v, %+v, %d at a time", err, result, most.Load())
	}
}

// BenchmarkLargeLine measures the memory of a message of 30 MB: what it allocates, and what the process keeps from the
// system at most, both as multiples of its size.
func BenchmarkLargeLine(b *testing.B) {
	const size = 30 << 20
	for name, piece := range map[string]string{"plain": "x", "escapes": `\n`} {
		b.Run(name, func(b *testing.B) {
			line := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat(piece, size/len(piece)) + `"}]}}` + "\n"
			for b.Loop() {
				debug.FreeOSMemory()
				resetPeak()
				before := memory(b, "VmRSS:")
				var stats, after runtime.MemStats
				runtime.ReadMemStats(&stats)
				message, err := agentsdk.ReadMessage(strings.NewReader(line))
				runtime.ReadMemStats(&after)
				peak := memory(b, "VmHWM:")
				if err != nil || len(message.(*agentsdk.AssistantMessage).Content[0].Text) != size/len(piece) {
					b.Fatal(err)
				}
				b.ReportMetric(float64(after.TotalAlloc-stats.TotalAlloc)/float64(len(line)), "allocated/size")
				b.ReportMetric(float64(peak-before)/float64(len(line)), "peak/size")
			}
		})
	}
}

// resetPeak begins a new measurement of VmHWM.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func memory(b *testing.B, name string) (bytesUsed int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte(name))
	_, _ = fmt.Sscan(string(rest), &bytesUsed)
	return bytesUsed << 10
}
