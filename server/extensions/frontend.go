package extensions

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// A frontend is an extension whose tools the client runs (GA 7.9). It is connected to nothing.
type frontend struct {
	list []llm.Tool
	text string
}

func newFrontend(config extension.Config) *frontend {
	f := &frontend{}
	for _, tool := range config.Tools {
		f.list = append(f.list, toolOf(tool))
	}
	if config.Instructions != nil {
		f.text = *config.Instructions
	}
	return f
}

// toolOf returns what a model is told of a tool.
func toolOf(tool extension.Tool) llm.Tool {
	described := llm.Tool{Name: tool.Name, Schema: tool.InputSchema}
	if tool.Description != nil {
		described.Description = *tool.Description
	}
	return described
}

func (f *frontend) tools(context.Context) ([]llm.Tool, error) { return nil, nil }
func (f *frontend) frontend() []llm.Tool                      { return f.list }
func (f *frontend) instructions(context.Context) string       { return f.text }
func (f *frontend) note(context.Context) string               { return "" }
func (f *frontend) close()                                    {}

// call knows no tool: the client's have no prefix.
func (f *frontend) call(_ context.Context, _ string, call reply.Call) message.Result[[]message.ToolContent] {
	return unknown(call.Name)
}

// unknown is the result of a tool that there is not (GA 7.8).
func unknown(name string) message.Result[[]message.ToolContent] {
	return failed(reason("-32002: " + name))
}
