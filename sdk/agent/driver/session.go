package main

import (
	"context"
	"encoding/json"
	"iter"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

func connect(ctx context.Context, with *values) (any, error) {
	options, err := with.Options.options()
	if err != nil {
		return nil, err
	}
	c, err := agentsdk.NewClaudeCodeClient(options)
	if err != nil {
		return nil, err
	}
	client = c // before it connects: a close may come first
	var prompts []string
	if with.Prompt != "" {
		prompts = []string{with.Prompt}
	}
	if err := c.Connect(ctx, prompts...); err != nil {
		return nil, err
	}
	return c.ServerInfo().Raw, nil
}

func run(ctx context.Context, with *values) (any, error) {
	options, err := with.Options.options()
	if err != nil {
		return nil, err
	}
	agent, err := agentsdk.NewClaudeCodeAgent(options.AgentOptions)
	if err != nil {
		return received{Messages: []json.RawMessage{}, Error: describe(err)}, nil
	}
	session, err := agent.StartSession(ctx, agentsdk.SessionConfig{Prompt: with.Prompt})
	if err != nil {
		return received{Messages: []json.RawMessage{}, Error: describe(err)}, nil
	}
	r := collect(session.Messages())
	return r, agent.Close(ctx)
}

func interrupt(ctx context.Context, _ *values) (any, error) {
	receipt, err := client.Interrupt(ctx)
	return map[string]any{"still_queued": append([]string{}, receipt.StillQueued...)}, err
}

func mcpStatus(ctx context.Context, _ *values) (any, error) {
	servers, err := client.MCPStatus(ctx)
	status := []map[string]string{}
	for _, s := range servers {
		status = append(status, map[string]string{"name": s.Name, "status": s.Status})
	}
	return status, err
}

// received is what an iterator has yielded, and how it ended.
type received struct {
	Messages []json.RawMessage `json:"messages"`
	Error    *failure          `json:"error,omitempty"`
}

func collect(messages iter.Seq2[agentsdk.Message, error]) received {
	r := received{Messages: []json.RawMessage{}}
	for message, err := range messages {
		if err != nil {
			r.Error = describe(err)
			break
		}
		r.Messages = append(r.Messages, message.Raw())
	}
	return r
}
