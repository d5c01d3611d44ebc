package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// samplingServer has a tool that asks the client's model.
func samplingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sampler", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "sample", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 servers of today sample
		messages := []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Who?"}}}
		//lint:ignore SA1019 servers of today sample
		answer, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 7, SystemPrompt: "Be short.", Temperature: 0.5, Messages: messages,
		})
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprint(answer.Role, " ", answer.Model, " ", answer.StopReason, " ", answer.Content.(*mcp.TextContent).Text)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
	})
	return s
}

func TestSampling(t *testing.T) {
	s := newSet(t)
	add(t, s, server(t, "s", "sampler"))
	call := quiet("s__sample", "")
	var asked reply.Sampling
	call.Sample = func(_ context.Context, question reply.Sampling) (reply.Sampled, error) {
		asked = question
		return reply.Sampled{Text: "<me>", Model: "m"}, nil
	}
	if got := said(t, s.Call(t.Context(), call)); got != "assistant m endTurn <me>" {
		t.Errorf("answer: %s", got)
	}
	if got := fmt.Sprint(asked); got != "{Be short. [{ user 0 [{Who? <nil> []}] {false false}}] 7 0.5}" {
		t.Errorf("question: %s", got)
	}
	call.Sample = func(context.Context, reply.Sampling) (reply.Sampled, error) {
		return reply.Sampled{}, errors.New("Request failed: no")
	}
	if got := said(t, s.Call(t.Context(), call)); !strings.Contains(got, "Request failed: no") {
		t.Errorf("failure: %s", got)
	}
}

func TestRequestsForSampling(t *testing.T) {
	const hi = `{"role":"user","content":{"type":"text","text":"hi"}}`
	const unreadable = "The sampling request cannot be read"
	const readable = "No tool is running" // for want of one
	x := &client{}
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
