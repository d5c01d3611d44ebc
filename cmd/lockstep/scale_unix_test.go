//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// BenchmarkScenarios runs the program with many scenarios of five steps on two targets, which it starts, until the
// reports are written. Memory is the peak of lockstep alone; CPU time includes the targets. The targets are separate
// programs, because a new process inherits the peak of its parent, which must stay small.
func BenchmarkScenarios(b *testing.B) {
	bin := b.TempDir()
	lockstep := build(b, ".", filepath.Join(bin, "lockstep"))
	items := build(b, "./testdata/items", filepath.Join(bin, "items"))
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := writeScenarios(b, items, n)
			var wall, cpu time.Duration
			var peak int64
			for b.Loop() {
				if err := os.RemoveAll(filepath.Join(dir, "reports")); err != nil {
					b.Fatal(err)
				}
				cmd := exec.Command(lockstep, "run")
				cmd.Dir = dir
				start := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("lockstep run: %v\n%s", err, out)
				}
				wall += time.Since(start)
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				peak = max(peak, peakOf(cmd.ProcessState.SysUsage().(*syscall.Rusage)))
			}
			b.ReportMetric(wall.Seconds()/float64(b.N), "wall-s")
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
			b.ReportMetric(0, "ns/op") // reported as wall-s
		})
	}
}

// peakOf returns the peak memory of a process in bytes.
func peakOf(u *syscall.Rusage) int64 {
	peak := int64(u.Maxrss)
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return peak
	}
	return peak << 10
}

// writeScenarios writes a project with n scenarios, one per file in twenty folders, and returns its folder.
func writeScenarios(b *testing.B, server string, n int) (dir string) {
	dir = b.TempDir()
	write := func(name, text string) {
		testfile.Write(b, filepath.Join(dir, name), text)
	}
	contract := testfile.Text(b, "testdata/items/openapi.yaml")
	write("openapi.yaml", contract)
	target := fmt.Sprintf(`{command: [%q, "${{ host }}:${{ port }}"], ready: {get: /health}}`, server)
	write("lockstep.yaml", "contract: openapi.yaml\nscenarios: scenarios\nreference: a\ntargets:\n  a: "+target+"\n  b: "+target+"\n")
	for i := range 20 {
		if err := os.MkdirAll(filepath.Join(dir, "scenarios", fmt.Sprintf("d%d", i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for i := range n {
		id := fmt.Sprintf("d%d/s%05d", i%20, i)
		var text strings.Builder
		fmt.Fprintf(&text, "scenario: %s\nwhy: A client reads five items\nsource: benchmark\nsteps:\n", id)
		for k := range 5 {
			fmt.Fprintf(&text, "  - {http: GET /items/%d-%d, expect: {status: 200}}\n", i, k)
		}
		write(filepath.Join("scenarios", filepath.FromSlash(id)+".yaml"), text.String())
	}
	return dir
}
