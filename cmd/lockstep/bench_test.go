package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// BenchmarkStart runs the program with one scenario of one exchange against a running server, and compares it with a
// program that does only the exchange. Nearly all of the time goes into reading the project and the contract.
func BenchmarkStart(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Access-Control-Allow-Origin", "*") // the contract demands these two
		w.Header().Set("Vary", "origin, access-control-request-method, access-control-request-headers")
		io.WriteString(w, "ok")
	}))
	b.Cleanup(server.Close)
	bin := b.TempDir()
	lockstep, bare := build(b, ".", filepath.Join(bin, "lockstep")), build(b, "./testdata/bare", filepath.Join(bin, "bare"))
	for _, bm := range []struct {
		name      string
		contract  string
		scenarios string // in addition to the first one
	}{
		{"a contract of one operation", "testdata/bare/openapi.yaml", ""},
		{"the contract of the agent server", "../../openapi.yaml", ""},
		{"its whole project", "../../openapi.yaml", "../../scenarios"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			config := writeProject(b, bm.contract, bm.scenarios)
			ratio.Report(b, 1,
				ratio.Candidate{Name: "lockstep", Round: process(b, lockstep, "run", "-c", config, "--target", "go="+server.URL, "one")},
				ratio.Candidate{Name: "bare", Round: process(b, bare, server.URL)},
			)
		})
	}
}

func build(b *testing.B, pkg, to string) string {
	if out, err := exec.Command("go", "build", "-o", to, pkg).CombinedOutput(); err != nil {
		b.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return to
}

// process returns a function that runs a program and measures it. The system knows the CPU time when the program has
// ended.
func process(b *testing.B, program string, args ...string) func() ratio.Cost {
	return func() ratio.Cost {
		cmd := exec.Command(program, args...)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		took := time.Since(start)
		if err != nil {
			b.Fatalf("%s: %v\n%s", program, err, out)
		}
		return ratio.Cost{Wall: took, CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	}
}

// writeProject writes a project with a scenario called one, and with others if any are given, and returns its file.
func writeProject(b *testing.B, contract, scenarios string) (file string) {
	dir := b.TempDir()
	text, stubs := testfile.Read(b, contract), ""
	if scenarios != "" {
		if err := os.CopyFS(filepath.Join(dir, "scenarios"), os.DirFS(scenarios)); err != nil {
			b.Fatal(err)
		}
		stubs = "stubs: {llm: {kind: openai, models: [gpt-4o, gpt-4o-mini]}, claude: {kind: anthropic, models: [claude-sonnet-4]}, osv: {kind: http}}\n"
	}
	for name, text := range map[string]string{
		"openapi.yaml": string(text),
		"lockstep.yaml": "contract: openapi.yaml\nscenarios: scenarios\nreference: go\n" + stubs +
			"targets:\n  go: {url: 'http://127.0.0.1:1', ready: {get: /status}}\n",
		"scenarios/one.yaml": "scenario: one\nwhy: A server that is up says ok\nsource: benchmark\n" +
			"steps:\n  - http: GET /status\n    expect: {status: 200, body: ok}\n",
	} {
		testfile.Write(b, filepath.Join(dir, name), text)
	}
	return filepath.Join(dir, "lockstep.yaml")
}
