package agentsdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
	"github.com/lockstep-dev/lockstep/sdk/agent/agenttest"
)

// chunks reads a text in pieces of random sizes.
type chunks struct {
	rest   string
	random *rand.Rand
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:1+c.random.IntN(len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// FuzzLines checks that the lines are those of the text, however it is cut, and that none is longer than the limit.
func FuzzLines(f *testing.F) {
	f.Add("{\"a\":1}\r\n\n  x  \ny", uint64(1), 100)
	f.Add("\u2028\n"+strings.Repeat("long ", 100), uint64(2), 20)
	f.Fuzz(func(t *testing.T, text string, seed uint64, max int) {
		got, err := agentsdk.Lines(&chunks{text, rand.New(rand.NewPCG(seed, 0))}, -1)
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				want = append(want, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
		if max < 0 {
			return
		}
		limited, err := agentsdk.Lines(&chunks{text, rand.New(rand.NewPCG(seed, 0))}, max)
		for i, line := range limited {
			if len(line) > max || line != want[i] {
				t.Errorf("%q: a line of %d bytes, at most %d", text, len(line), max)
			}
		}
		if err == nil && len(limited) != len(want) {
			t.Errorf("%q: lines are missing", text)
		}
	})
}

// FuzzMembers checks that the parts of objects and arrays are those that encoding/json finds.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\"}]\\"}],"\u00e9":null , "x" : -1e5}`)
	f.Add(` [ true,"é",{} , [ ] ]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) == nil {
			got := map[string]json.RawMessage{}
			for name, value := range agentsdk.Members(json.RawMessage(text)) {
				got[name] = value
			}
			if object == nil {
				object = got
			}
			if diff := cmp.Diff(object, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
		var array, got []json.RawMessage
		if json.Unmarshal([]byte(text), &array) == nil {
			for value := range agentsdk.Elements(json.RawMessage(text)) {
				got = append(got, value)
			}
			if len(array) == 0 {
				array = nil
			}
			if diff := cmp.Diff(array, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	})
}

// FuzzControl has a CLI write any lines. What the handler writes is valid, it answers each request at most once, and it
// still answers afterwards.
func FuzzControl(f *testing.F) {
	f.Add(`{"type":"control_request","request_id":"a","request":` + call(1, "add", `{"a":1,"b":2}`) + `}` + "\n" + `{"type":"control_cancel_request","request_id":"a"}`)
	f.Add(`{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","tool_name":"x","input":{}}}` + "\n" + `{"type":"control_response","response":{"request_id":"a"}}`)
	f.Add(`{"type":"control_request","request_id":"b","request":` + mcp(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`) + `}` + "\nnull")
	f.Add(`{"type":"control_request","request_id":"c","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{"hook_event_name":7}}}`)
	f.Add(`{"type":"assistant","message":{"content":[{"type":"text"},7,null]}}` + "\n" + `{"type":"result","subtype":7}`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "last") {
			return // the id of the last request
		}
		mock := agenttest.NewMockTransport(agenttest.MockTransportOptions{AutoInitialize: true})
		_ = mock.Connect(t.Context())
		registry := agentsdk.NewToolRegistry()
		_ = registry.Register(agentsdk.MustTool("add", "", func(_ context.Context, in addition, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
			return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil
		}))
		h := agentsdk.NewControlProtocolHandler(mock, agentsdk.ProtocolOptions{
			CanUseTool: func(context.Context, string, map[string]any, agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
				return agentsdk.Allow(), nil
			},
			Hooks: map[string][]agentsdk.HookMatcher{"Stop": {{Hooks: []agentsdk.HookCallback{func(context.Context, agentsdk.HookInput, string) (agentsdk.HookOutput, error) {
				return agentsdk.HookOutput{}, nil
			}}}}},
		})
		_ = h.RegisterToolRegistry("calc", registry)
		if _, err := h.Initialize(t.Context()); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.SplitSeq([]byte(text), []byte("\n")) {
			_ = mock.SimulateMessage(line)
		}
		_ = mock.SimulateMessage([]byte(`{"type":"control_request","request_id":"last","request":` + call(1, "add", `{"a":1,"b":2}`) + `}`))
		if _, err := mock.WaitForWritten(t.Context(), func(m map[string]any) bool {
			body, _ := m["response"].(object)
			return body["request_id"] == "last"
		}); err != nil {
			t.Fatal(err)
		}
		_ = mock.Close(t.Context())
		for _, m := range mock.GetWrittenMessages() {
			body, isResponse := m["response"].(object)
			if isResponse && body["subtype"] != "success" && body["subtype"] != "error" || m["type"] == nil {
				t.Errorf("%q: wrote %v", text, m)
			}
		}
	})
}
