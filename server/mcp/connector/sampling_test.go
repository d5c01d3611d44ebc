package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
)

// samplingServer has a tool that asks the client's model.
func samplingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sampler", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "sample", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 current servers use sampling
		messages := []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Who?"}}}
		//lint:ignore SA1019 current servers use sampling
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
	var asked toolbox.Sampling
	call.Sample = func(_ context.Context, question toolbox.Sampling) (toolbox.Sampled, error) {
		asked = question
		return toolbox.Sampled{Text: "<me>", Model: "m"}, nil
	}
	if got := said(t, s.Call(t.Context(), call)); got != "assistant m endTurn <me>" {
		t.Errorf("answer: %s", got)
	}
	if got := fmt.Sprint(asked); got != "{Be short. [{ user 0 [{Who? <nil> []}] {false false}}] 7 0.5}" {
		t.Errorf("question: %s", got)
	}
	call.Sample = func(context.Context, toolbox.Sampling) (toolbox.Sampled, error) {
		return toolbox.Sampled{}, errors.New("Request failed: no")
	}
	if got := said(t, s.Call(t.Context(), call)); !strings.Contains(got, "Request failed: no") {
		t.Errorf("failure: %s", got)
	}
}
