package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

func TestIntroductions(t *testing.T) {
	for _, tc := range []struct {
		name, result string
		want         error
	}{
		{"all there is", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"","version":"1","title":7},"instructions":"x"}`, nil},
		{"no server", `{"protocolVersion":"2025-06-18","capabilities":{}}`, mcperror.NotMCP},
		{"a server that is null", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":null}`, mcperror.NotMCP},
		{"a server without a name", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"version":"1"}}`, mcperror.NotMCP},
		{"a server without a version", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x"}}`, mcperror.NotMCP},
		{"no capabilities", `{"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"}}`, mcperror.NotMCP},
		{"no version", `{"capabilities":{},"serverInfo":{"name":"x","version":"1"}}`, mcperror.NotMCP},
		{"instructions that are no text", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"},"instructions":[]}`, mcperror.NotMCP},
		{"no object", `"hello"`, mcperror.NotMCP},
		{"nothing", ``, mcperror.NotMCP},
	} {
		version, err := introduction(json.RawMessage(tc.result))
		if !errors.Is(err, tc.want) || err == nil && version != "2025-06-18" {
			t.Errorf("%s: %q, %v, want %v", tc.name, version, err, tc.want)
		}
	}
}

func TestALateAnswerDoesNotCount(t *testing.T) {
	for _, tc := range []struct {
		cause error
		want  string
	}{
		{mcperror.Late(time.Second), "No answer within 1 s"},
		{mcperror.Closed, "-1: x"}, // it arrived before the end
		{errors.New("the client has gone"), "-1: x"},
	} {
		x := &Client{Timeout: time.Second, messages: &rawMessages{awaited: map[jsonrpc.ID]*answer{}}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tc.cause)
		_, err := x.ask(ctx, func(ctx context.Context) error {
			*ctx.Value(awaitKey{}).(*answer) = answer{there: true, err: &jsonrpc.Error{Code: -1, Message: "x"}}
			return nil
		})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%v: %v, want %s", tc.cause, err, tc.want)
		}
	}
}

func TestRequestsForSampling(t *testing.T) {
	const hi = `{"role":"user","content":{"type":"text","text":"hi"}}`
	const unreadable = "The sampling request cannot be read"
	const readable = "No tool is running" // the request is readable, but no tool is running
	x := &Client{}
	for _, tc := range []struct{ params, want string }{
		{`{"messages":[` + hi + `],"maxTokens":1}`, readable},
		{`{"messages":[` + hi + `],"maxTokens":2147483647.0,"systemPrompt":null,"temperature":1e0,"other":[]}`, readable},
		{`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image","data":"eA==","mimeType":"image/png"}]}],"maxTokens":1}`, readable},
		{`{"messages":[],"maxTokens":1}`, unreadable},
		{`{"maxTokens":1}`, unreadable},
		{`{"messages":[` + hi + `]}`, unreadable},
		{`{"messages":[` + hi + `],"maxTokens":0}`, unreadable},
		{`{"messages":[` + hi + `],"maxTokens":1.5}`, unreadable},
		{`{"messages":[` + hi + `],"maxTokens":"1"}`, unreadable},
		{`{"messages":[` + hi + `],"maxTokens":2147483648}`, unreadable},
		{`{"messages":[` + hi + `],"maxTokens":1,"systemPrompt":1}`, unreadable},
		{`{"messages":[` + hi + `],"maxTokens":1,"temperature":"1"}`, unreadable},
		{`{"messages":[{"role":"system","content":{"type":"text","text":"hi"}}],"maxTokens":1}`, unreadable},
		{`{"messages":[{"role":"user"}],"maxTokens":1}`, unreadable},
		{`{"messages":[{"role":"user","content":"hi"}],"maxTokens":1}`, unreadable},
		{`{"messages":[{"role":"user","content":{"type":"audio","data":"","mimeType":""}}],"maxTokens":1}`, unreadable},
		{`{"messages":[{"role":"user","content":[{"type":"text"}]}],"maxTokens":1}`, unreadable},
		{`{"messages":[{"role":"user","content":{"type":"image","data":"x"}}],"maxTokens":1}`, unreadable},
		{`{"messages":[7],"maxTokens":1}`, unreadable},
		{`{"messages":{},"maxTokens":1}`, unreadable},
		{`[]`, unreadable},
		{``, unreadable},
	} {
		if _, err := x.sample(json.RawMessage(tc.params)); !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.params, err, tc.want)
		}
	}
}

func TestAnImageIsSampled(t *testing.T) {
	s, err := samplingOf(json.RawMessage(`{"messages":[{"role":"user","content":{"type":"image","data":"eA==","mimeType":"image/png"}}],"maxTokens":1}`))
	if err != nil || s.Messages[0].Content[0].(message.Image).Data != "eA==" {
		t.Errorf("%+v, %v", s, err)
	}
}
