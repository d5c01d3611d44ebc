package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/target"
)

// servers are the two agent servers, as `make build` builds them.
var servers = map[string][]string{
	"go":         {"../../bin/agentd"},
	"typescript": {"node", "../../reference/dist/main.js"},
}

// An agent is an agent server, and what a program outside any browser does with it.
type agent struct {
	t   *testing.T
	ctx context.Context
	url string
}

// eachServer runs a test with each server, which has default settings and these flags.
func eachServer(t *testing.T, test func(*testing.T, *agent), flags ...string) {
	for name, command := range servers {
		t.Run(name, func(t *testing.T) { test(t, startAgent(t, command, flags...)) })
	}
}

func startAgent(t *testing.T, command []string, flags ...string) *agent {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(stop)
	for i, arg := range command {
		if strings.HasPrefix(arg, "../../") {
			path, err := filepath.Abs(arg)
			if err != nil {
				t.Fatal(err)
			}
			command = append(append(command[:i:i], path), command[i+1:]...)
		}
	}
	server, err := target.Start(ctx, target.Spec{
		Name: "agent", Command: append(append(command[:len(command):len(command)], "agent", "--port", "${{ port }}"), flags...),
		Env: map[string]string{"HOME": "${{ directory }}", "GOOSE_PATH_ROOT": "${{ directory }}"},
	}, &target.Options{Environ: os.Environ()})
	if err != nil {
		t.Fatalf("%v; `make build` builds the servers", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &agent{t: t, ctx: ctx, url: strings.TrimSuffix(server.URL().String(), "/")}
}

// open sends a request without an Origin, and returns the response when its head has arrived.
func (a *agent) open(method, path string, body any) *http.Response {
	a.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(a.ctx, method, a.url+path, bytes.NewReader(content))
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		a.t.Fatalf("%s %s: %s: %s", method, path, response.Status, said)
	}
	return response
}

func (a *agent) send(method, path string, body any) string {
	a.t.Helper()
	response := a.open(method, path, body)
	said, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	return string(said)
}

func (a *agent) call(toolID string, input any) string {
	a.t.Helper()
	return a.send("POST", "/client-tools/execute", map[string]any{"toolID": toolID, "input": input, "timeout": 20_000})
}

// tools returns the IDs of all registered tools.
func (a *agent) tools() string {
	a.t.Helper()
	var tools map[string]any
	if said := a.send("GET", "/client-tools/tools", nil); json.Unmarshal([]byte(said), &tools) != nil {
		a.t.Fatalf("the list of tools is %s", said)
	}
	return strings.Join(slices.Sorted(maps.Keys(tools)), " ")
}

// A feed is an event stream that a test reads.
type feed struct {
	*agent
	lines *bufio.Scanner
}

func (a *agent) stream(path string) *feed {
	a.t.Helper()
	return &feed{agent: a, lines: bufio.NewScanner(a.open("GET", path, nil).Body)}
}

// until reads until the data of an event contains all these texts.
func (f *feed) until(texts ...string) {
	f.t.Helper()
next:
	for f.lines.Scan() {
		for _, text := range texts {
			if !strings.Contains(f.lines.Text(), text) {
				continue next
			}
		}
		return
	}
	f.t.Fatalf("the stream ended without %q: %v", texts, f.lines.Err())
}

// An owner offers the tool client_owner_echo, and records who has called it.
type owner struct {
	mu    sync.Mutex
	calls []string
}

func (a *agent) offer() *owner {
	a.t.Helper()
	a.send("POST", "/client-tools/register", json.RawMessage(`{"clientID":"owner","tools":[{"id":"echo","description":"Echoes","parameters":{"type":"object"}}]}`))
	requests := a.open("GET", "/client-tools/pending/owner", nil).Body
	o := &owner{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.answer(a, bufio.NewScanner(requests))
	}()
	a.t.Cleanup(func() { requests.Close(); <-done })
	return o
}

// answer answers calls until the stream ends.
func (o *owner) answer(a *agent, lines *bufio.Scanner) {
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: {")
		if !ok {
			continue
		}
		var request struct {
			RequestID string
			Input     struct{ From string }
		}
		if err := json.Unmarshal([]byte("{"+data), &request); err != nil {
			a.t.Errorf("a request is %s: %v", data, err)
			return
		}
		o.mu.Lock()
		o.calls = append(o.calls, request.Input.From)
		o.mu.Unlock()
		result := fmt.Sprintf(`{"requestID":%q,"result":{"status":"success","title":"echo","output":%q}}`, request.RequestID, request.Input.From)
		response, err := http.Post(a.url+"/client-tools/result", "application/json", strings.NewReader(result))
		if err != nil {
			a.t.Errorf("send a result: %v", err)
			return
		}
		response.Body.Close()
	}
}

func (o *owner) callers() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.calls, " ")
}
