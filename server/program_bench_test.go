package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program is one of the two servers in a process and a directory of its own.
type program struct {
	name   string
	addr   string
	pid    int
	client *http.Client
}

// startBoth starts the Go server and the reference with the same settings and the same model.
func startBoth(b *testing.B, model http.HandlerFunc) [2]*program {
	b.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		b.Skip(err)
	}
	host := "http://" + startHandler(b, model)
	return [2]*program{
		startProgram(b, "go", host, "../bin/agentd"),
		startProgram(b, "reference", host, node, "../reference/dist/main.js"),
	}
}

// startHandler serves a handler until the benchmark ends.
func startHandler(b *testing.B, handler http.Handler) (addr string) {
	return serveWhile(b, func(ctx context.Context, ln net.Listener) { serveUntil(ctx, ln, &http.Server{Handler: handler}) })
}

// startProgram starts a server, which chooses its port. It stops with the benchmark.
func startProgram(b *testing.B, name, model string, command ...string) *program {
	b.Helper()
	file := command[len(command)-1]
	if _, err := os.Stat(file); err != nil {
		b.Skipf("%s is not built: run make build", file)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "agent", "--port", "0", "--directory", "/")...)
	config := filepath.Join(b.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(`{"clientTools": {"rateLimit": {"calls": 0}}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd.Env = []string{
		"AGENTD_CONFIG=" + config, "GOOSE_PATH_ROOT=" + b.TempDir(), "GOOSE_DISABLE_KEYRING=1", "GOOSE_PROVIDER_SKIP_BACKOFF=true",
		"GOOSE_MAX_ACTIVE_AGENTS=100000", "OPENAI_HOST=" + model, "OPENAI_API_KEY=sk-secret",
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // before it is killed
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &program{name: name, pid: cmd.Process.Pid, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	b.Cleanup(func() {
		p.client.CloseIdleConnections()
		stop()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on http://")
	if !ok {
		b.Fatalf("%s says %q (%v)", file, line, err)
	}
	p.addr = addr
	return p
}

// get returns the body of an answer with status 200.
func (p *program) get(b *testing.B, path string) []byte { return p.send(b, "GET", path, "") }

// post sends JSON and returns the body of an answer with status 200.
func (p *program) post(b *testing.B, path, body string) []byte { return p.send(b, "POST", path, body) }

func (p *program) send(b *testing.B, method, path, body string) []byte {
	req, err := http.NewRequest(method, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	name, value, _ := strings.Cut(secret, ": ")
	req.Header.Set(name, value)
	resp, err := p.client.Do(req)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Errorf("%s: %s %s: %s %.300s, %v", p.name, method, path, resp.Status, answer, err)
	}
	return answer
}

// startSession creates a session with a model. It has a name, so that the server does not ask the model for one.
func (p *program) startSession(b *testing.B) (id string) {
	id = field(b, string(p.post(b, "/agent/start", `{"working_dir":"/w"}`)), "id")
	p.send(b, "PUT", "/sessions/"+id+"/name", `{"name":"measured"}`)
	p.post(b, "/agent/update_provider", `{"provider":"openai","model":"gpt-4o","session_id":"`+id+`"}`)
	return id
}

// startSessions creates the given number of sessions.
func (p *program) startSessions(b *testing.B, count int) (ids []string) {
	ids = make([]string, count)
	fromClients(count, func(i int) { ids[i] = p.startSession(b) })
	if b.Failed() {
		b.FailNow()
	}
	return ids
}

// resident returns the process's resident memory in bytes.
func (p *program) resident(b *testing.B) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kib), " kB"), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n << 10
		}
	}
	b.Fatal("the system does not say how much memory is resident")
	return 0
}

// cpuTime returns the user and system time of the process so far, to a hundredth of a second, or 0 if the system does
// not report it.
func (p *program) cpuTime() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return 0
	}
	// The program name is in parentheses and may have any characters. The 12th and 13th fields after it are the times.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}
