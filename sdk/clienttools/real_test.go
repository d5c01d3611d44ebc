package clienttools_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/sdk/clienttools"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// startAgentServer starts the agent server of this repository, with a model that says "Hello".
func startAgentServer(t *testing.T) (c *clienttools.Client, post func(path, body string) string) {
	t.Helper()
	_, models := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
		if strings.Contains(asked.Body, "Describe the topic") {
			llmtest.Whole(w, "A name")
			return
		}
		llmtest.Events(w, llmtest.Says("c1", "Hel", "lo")...)
	})
	env := map[string]string{"OPENAI_API_KEY": "sk-secret", "OPENAI_HOST": "http://model.test"}
	srv, err := server.New(server.Config{
		Directory: "/w", Directories: settings.Below(t.TempDir()), Models: models, SecretKey: "key",
		Env: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
	})
	must(t, err)
	ln := memnet.Listen()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, ln) }()
	client := ln.Client()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		stop()
		must(t, <-served)
	})
	c, err = clienttools.New("http://localhost", &clienttools.Options{
		ClientID: "c1", SecretKey: "key", HTTPClient: client,
		OnError: func(err error) { t.Error(err) },
	})
	must(t, err)
	return c, func(path, body string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(body))
		must(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Secret-Key", "key")
		response, err := client.Do(request)
		must(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		must(t, err)
		return string(text)
	}
}

func TestTheAgentServerCallsTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, post := startAgentServer(t)
		must(t, c.Connect(t.Context()))
		must(t, c.Register(t.Context(), echo("echo"), echo("client_gone")))
		must(t, c.Unregister(t.Context(), "client_gone"))
		synctest.Wait()
		execute := func(tool string) string {
			return post("/client-tools/execute", `{"toolID":"client_c1_`+tool+`","input":{"a":1}}`)
		}
		const unknown = `{"error":{"code":"NOT_FOUND","message":"Tool not found"}}`
		if got := execute("client_gone"); got != unknown {
			t.Errorf("unregistered tool: %s", got)
		}
		time.Sleep(5 * time.Minute) // with pings
		if got, want := execute("echo"), `{"status":"success","title":"echo","output":"{\"a\":1}"}`; got != want {
			t.Errorf("execute: %s, want %s", got, want)
		}
		must(t, c.Close())
		synctest.Wait()
		if got := execute("echo"); got != unknown {
			t.Errorf("after Close: %s", got)
		}
	})
}

func TestAHandlerCallsToolsOfTheAgentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, post := startAgentServer(t)
		must(t, c.Connect(t.Context()))
		var failed error
		must(t, c.Register(t.Context(), clienttools.ClientTool{
			Definition: clienttools.Definition{ID: "note", Description: "d", Parameters: []byte(`{}`)},
			Handle: func(ctx context.Context, call *clienttools.Call) (*clienttools.Result, error) {
				_, failed = call.CallTool(ctx, "platform__manage_schedule", nil)
				content, err := call.CallTool(ctx, "todo__todo_write", map[string]string{"content": "tea"})
				return &clienttools.Result{Title: "note", Output: string(content)}, err
			},
		}))
		var session struct{ ID string }
		must(t, json.Unmarshal([]byte(post("/agent/start", `{"working_dir":"/w"}`)), &session))
		post("/agent/add_extension", `{"session_id":"`+session.ID+`","config":{"type":"platform","name":"todo","description":null}}`)
		synctest.Wait()
		got := post("/client-tools/execute", `{"toolID":"client_c1_note","sessionID":"`+session.ID+`"}`)
		if want := `{"status":"success","title":"note","output":"[{\"type\":\"text\",`; !strings.HasPrefix(got, want) || !strings.Contains(got, "3 chars") {
			t.Errorf("execute: %s, want %s… and the length of the note", got, want)
		}
		var tool *clienttools.ToolError
		if !errors.As(failed, &tool) || !strings.Contains(tool.Message, "is not built on this server") {
			t.Errorf("a tool that the server lacks: %v, want a ToolError", failed)
		}
		must(t, c.Close())
	})
}

func TestTheAgentServerReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := startAgentServer(t)
		session, err := c.StartSession(t.Context(), "/w")
		must(t, err)
		if _, err := session.Prompt(t.Context(), "hi"); err == nil || err.Error() != "Provider not set" {
			t.Errorf("Prompt without a model: %v", err)
		}
		must(t, session.SetModel(t.Context(), "openai", "gpt-4o"))
		if text, err := session.Prompt(t.Context(), "hi"); text != "Hello" || err != nil {
			t.Errorf("Prompt: %q, %v", text, err)
		}
		must(t, session.Close())
	})
}
