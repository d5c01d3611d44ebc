package connector

import (
	"context"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// A frontend is an extension whose tools the client runs (GA 7.9). It has no connection.
type frontend struct {
	list []llm.Tool
	text string
}

func newFrontend(config extension.Config) *frontend {
	f := &frontend{}
	for _, tool := range config.Tools {
		f.list = append(f.list, client.ToolOf(tool))
	}
	if config.Instructions != nil {
		f.text = *config.Instructions
	}
	return f
}

// Tools returns nothing, because the client's tools have no prefix and are listed separately.
func (f *frontend) Tools(context.Context) ([]llm.Tool, error) { return nil, nil }

func (f *frontend) Instructions(context.Context) string { return f.text }
func (f *frontend) Close()                              {}

// Call fails, because the server cannot run the client's tools.
func (f *frontend) Call(_ context.Context, _ string, call toolbox.Call) message.ToolResult {
	return mcperror.UnknownTool(call.Name)
}
