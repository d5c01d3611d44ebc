//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// asExtension makes the test binary an MCP server that misbehaves in the named way.
const asExtension = "AGENTD_TEST_EXTENSION"

// beExtension does not return in a process that was started as an extension.
func beExtension() {
	mode := os.Getenv(asExtension)
	if mode == "" {
		return
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		result := "{}"
		switch request.Method {
		case "initialize":
			if mode == "mute" {
				continue
			}
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`, request.Params.ProtocolVersion)
		case "tools/list":
			result = `{"tools":[{"name":"t","description":"T","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			misbehave(mode)
			continue
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", request.ID, result)
		if mode == "deaf" && request.Method == "tools/list" {
			ended := make(chan os.Signal, 1)
			signal.Notify(ended, syscall.SIGTERM)
			<-ended // its input stays open, and it reads nothing
			os.Exit(0)
		}
	}
}

// misbehave does what the server does instead of answering a call.
func misbehave(mode string) {
	switch mode {
	case "die":
		fmt.Fprintln(os.Stderr, "I have had enough")
		os.Exit(3)
	case "flood":
		text := strings.Repeat("x", 1<<10)
		for {
			if _, err := fmt.Printf("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":%q}}\n", text); err != nil {
				os.Exit(0)
			}
		}
	}
}

// A caller is a model that calls the extension's tool, and then ends the turn whatever the result is.
type caller struct{ arguments []string }

func (c *caller) Answer(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	done := "done"
	piece := stub.Piece{Text: &done}
	if body := string(r.Body.Bytes); !strings.Contains(body, `"role":"tool"`) && strings.Contains(body, "bad__t") {
		piece = stub.Piece{Tool: &stub.Tool{ID: "call_1", Name: "bad__t", Arguments: c.arguments}}
	}
	return &stub.Answer{Message: &stub.Message{ID: "m", Model: "gpt-4o", Pieces: []stub.Piece{piece}}}, func(*transcript.Exchange) {}
}

func (*caller) Unexpected(*transcript.Exchange, string) {}

// patience is how long a client waits for a reply, which may never end.
const patience = 3 * time.Second

// misbehaving makes agents use an MCP server that misbehaves. Then the client leaves and deletes the session.
func misbehaving(mode string) func(a *abuse) error {
	return func(a *abuse) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		// This is more than a pipe holds, in pieces that are short enough for a line of a model's stream.
		a.model.arguments = []string{`{"a":"`}
		for range a.scale(4, 1) {
			a.model.arguments = append(a.model.arguments, strings.Repeat("x", 1<<18))
		}
		a.model.arguments = append(a.model.arguments, `"}`)
		for range a.scale(5, 1) {
			session, err := a.api.startSession()
			if err != nil {
				return err
			}
			config := object{"type": "stdio", "name": "bad", "description": "", "cmd": self, "args": []string{}, "envs": object{asExtension: mode}, "env_keys": []string{}, "timeout": 2}
			_, err = a.api.do("POST", "/agent/add_extension", object{"session_id": session, "config": config})
			if mode != "mute" && err != nil {
				return err
			}
			if err := a.chat(session); err != nil {
				return err
			}
			if _, err := a.api.do("DELETE", "/sessions/"+session, nil); err != nil {
				return err
			}
		}
		return nil
	}
}

// chat sends a message in a session, and leaves when the reply has ended or takes too long.
func (a *abuse) chat(session string) error {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	body, err := json.Marshal(object{
		"session_id": session,
		"messages":   []object{{"role": "user", "created": 1765386000, "content": []object{{"type": "text", "text": "Hello"}}, "metadata": object{"userVisible": true, "agentVisible": true}}},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", a.s.url+"/reply", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Secret-Key", "test")
	resp, err := a.api.transport.RoundTrip(req)
	if err == nil {
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
