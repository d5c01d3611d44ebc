package gen

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/gen/client"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
)

// TestTheGoClientRunsAStory uses the generated client in one whole story with each server: it registers a
// tool, listens, has the tool executed, sends a result, and leaves.
func TestTheGoClientRunsAStory(t *testing.T) {
	reference, err := filepath.Abs("../reference/dist/main.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(reference); err != nil {
		t.Fatalf("%v: run make build (make test does)", err)
	}
	agentd := filepath.Join(t.TempDir(), "agentd")
	command(t, "..", nil, "go", "build", "-o", agentd, "./cmd/agentd")
	for name, argv := range map[string][]string{"go": {agentd, "agent"}, "typescript": {"node", reference, "agent"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := target.Start(t.Context(), target.Spec{
				Name: name, Command: append(argv, "--port", "${{ port }}"), Env: map[string]string{"HOME": t.TempDir()},
				Ready: target.Ready{Path: "/status", Within: 30 * time.Second},
			}, &target.Options{Environ: []string{"PATH=" + os.Getenv("PATH")}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			live(t, server.URL().String())
		})
	}
}

func live(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // so that a hang fails the test
	defer cancel()
	raw, err := client.NewClient(url)
	if err != nil {
		t.Fatal(err)
	}
	c := &client.ClientWithResponses{ClientInterface: raw}

	registered, err := c.RegisterClientToolsWithResponse(ctx, nil, api.RegisterRequest{
		ClientID: "story", Tools: []api.ClientToolDefinition{{ID: "add", Description: "Adds", Parameters: json.RawMessage(`{"type":"object"}`)}},
	})
	if err != nil || registered.JSON200 == nil || len(registered.JSON200.Registered) != 1 {
		t.Fatalf("register: %v %s", err, registered.Body)
	}
	tool := registered.JSON200.Registered[0]

	stream, err := c.StreamPendingRequests(ctx, "story", nil)
	if err != nil {
		t.Fatal(err)
	}
	pending := sse.Open(stream.Body, nil)
	defer pending.Close()
	called := make(chan *client.ExecuteClientToolHTTPResponse, 1)
	go func() {
		defer close(called)
		input, callID := json.RawMessage(`{"a":2,"b":3}`), "call_1"
		response, err := c.ExecuteClientToolWithResponse(ctx, nil, api.ExecuteRequest{ToolID: tool, Input: &input, CallID: &callID})
		if err != nil {
			t.Error(err)
			return
		}
		called <- response
	}()

	var request api.ClientToolExecutionRequest
	_, err = pending.Await(ctx, 0, func(ev *transcript.Event) bool {
		return ev.Type == "tool-request" && json.Unmarshal([]byte(ev.Data), &request) == nil
	})
	if err != nil || request.Tool != tool || string(request.Input) != `{"a":2,"b":3}` {
		t.Fatalf("pending: %v %+v", err, request)
	}
	var result api.ClientToolResponse
	if err := result.FromClientToolSuccess(api.ClientToolSuccess{Title: "Sum", Output: "5"}); err != nil {
		t.Fatal(err)
	}
	submitted, err := c.SubmitClientToolResultWithResponse(ctx, nil, api.SubmitResultRequest{RequestID: request.RequestID, Result: result})
	if err != nil || submitted.StatusCode() != http.StatusOK {
		t.Fatalf("result: %v %s", err, submitted.Body)
	}
	if outcome := <-called; outcome == nil || outcome.JSON200 == nil || outcome.JSON200.Output != "5" {
		t.Fatalf("execute: %+v", outcome)
	}

	again, err := c.SubmitClientToolResultWithResponse(ctx, nil, api.SubmitResultRequest{RequestID: request.RequestID, Result: result})
	if err != nil || again.JSON404 == nil {
		t.Errorf("a second result: %v %s", err, again.Body)
	}
	removed, err := c.UnregisterClientToolsWithResponse(ctx, nil, api.UnregisterRequest{ClientID: "story"})
	if err != nil || removed.JSON200 == nil || len(removed.JSON200.Unregistered) != 1 {
		t.Errorf("unregister: %v %s", err, removed.Body)
	}
	if err := pending.Close(); err != nil {
		t.Errorf("close the stream: %v", err)
	}
	left, err := c.ListClientToolsWithResponse(ctx, "story", nil)
	if err != nil || left.JSON200 == nil || len(*left.JSON200) != 0 {
		t.Errorf("list: %v %s", err, left.Body)
	}
}
