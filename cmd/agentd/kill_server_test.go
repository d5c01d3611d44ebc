//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// asAgentd makes the test binary run as agentd.
const asAgentd = "AGENTD_TEST_SERVES"

// beAgentd does not return in a process that was started as agentd, or as its guard. The guard has no environment, so
// its argument identifies it.
func beAgentd() {
	confine()
	if os.Getenv(asAgentd) != "" || len(os.Args) == 2 && os.Args[1] == guardCommand().Name() {
		main()
	}
}

// served is an agentd in a process of its own.
type served struct {
	cmd    *exec.Cmd
	url    string
	home   string             // its files
	stderr *syncbuffer.Buffer // what it has said
}

func agentd(t *testing.T, home, model string, env ...string) *exec.Cmd {
	t.Helper()
	program := testfile.Program(t)
	cmd := exec.CommandContext(t.Context(), program, "agent", "--port", "0", "--directory", "/")
	cmd.Env = append([]string{asAgentd + "=1", "HOME=" + home, "GOOSE_PATH_ROOT=" + home, "OPENAI_HOST=" + model, "OPENAI_API_KEY=sk-test", "GOOSE_PROVIDER_SKIP_BACKOFF=true", "GOOSE_PRICING_URL=none"}, env...)
	cmd.Dir = home
	return cmd
}

// startServer starts a server, waits until it is ready, and returns how long that took.
func startServer(t *testing.T, home, model string, env ...string) (*served, time.Duration) {
	t.Helper()
	return startCommand(t, home, agentd(t, home, model, env...))
}

func startCommand(t *testing.T, home string, cmd *exec.Cmd) (*served, time.Duration) {
	t.Helper()
	s := &served{cmd: cmd, home: home, stderr: new(syncbuffer.Buffer)}
	s.cmd.Stderr = s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	if _, err := fmt.Fscanf(stdout, "listening on %s\n", &s.url); err != nil {
		t.Fatalf("a server that does not start: %v; stderr: %s", err, s.stderr)
	}
	return s, time.Since(began)
}

// killStart starts a server and kills it after a time, ready or not.
func killStart(t *testing.T, home, model string, after time.Duration) {
	t.Helper()
	s := &served{cmd: agentd(t, home, model)}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-time.After(after)
	s.kill()
}

// kill kills the process with SIGKILL. A second call does nothing.
func (s *served) kill() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Kill() // fails if the process has already ended
		s.cmd.Wait()         // its error only says that the process was killed
	}
}

// api is a client of the server.
type api struct {
	url       string
	transport *http.Transport
}

func (s *served) api() *api { return &api{url: s.url, transport: &http.Transport{}} }

func (a *api) close() { a.transport.CloseIdleConnections() }

// do sends a request and reads the whole body of an answer with status 200. Its error for another answer has the
// status.
func (a *api) do(method, path string, body any) ([]byte, error) {
	answer, err := a.open(method, path, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	return io.ReadAll(answer)
}

// open sends a request, and returns the body of an answer with status 200.
func (a *api) open(method, path string, body any) (io.ReadCloser, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequest(method, a.url+path, &sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Secret-Key", "test")
	resp, err := a.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == 200 {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s %s: %w", method, path, &refused{resp.StatusCode, strings.TrimSpace(string(answer))})
}

// refused is an answer with another status than 200.
type refused struct {
	status int
	body   string
}

func (r *refused) Error() string { return fmt.Sprintf("%d %s", r.status, r.body) }
