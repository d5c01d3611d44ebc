package client

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/telemetry"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

const unreadableTools = mcperror.Reason("The list of tools cannot be read")

// Tools returns the server's tools, with the server's own names.
func (x *Client) Tools(ctx context.Context) (tools []llm.Tool, err error) {
	if x.session.InitializeResult().Capabilities.Tools == nil {
		return nil, nil
	}
	err = x.pages(ctx, func(ctx context.Context, cursor string) (result decode.Value, next *string, err error) {
		result, err = x.askInTime(ctx, func(ctx context.Context) error {
			_, err := x.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			return err
		})
		if err != nil {
			return result, nil, err
		}
		o := result.Object("tools", "nextCursor")
		for _, tool := range decode.List(o, "tools", extension.DecodeTool) {
			tools = append(tools, ToolOf(tool))
		}
		return result, o.MaybeString("nextCursor"), listError(o, unreadableTools)
	}, unreadableTools)
	if err != nil {
		return nil, err
	}
	return tools, nil
}

// pages reads all pages of a list. It returns unreadable if there are too many pages, or if they are too large
// together.
func (x *Client) pages(ctx context.Context, page func(ctx context.Context, cursor string) (decode.Value, *string, error), unreadable error) error {
	cursor, left := "", x.MaxList
	for range maxPages {
		result, next, err := page(ctx, cursor)
		if err != nil {
			return err
		}
		if left -= result.Size(); left < 0 {
			return unreadable
		}
		if next == nil || *next == "" {
			return nil
		}
		cursor = *next
	}
	return unreadable
}

// listError returns the error of a page that cannot be decoded, or nil.
func listError(o *decode.Object, unreadable error) error {
	if o.Err() != nil {
		return unreadable
	}
	return nil
}

// ToolOf returns a tool as models see it.
func ToolOf(tool extension.Tool) llm.Tool {
	described := llm.Tool{Name: tool.Name, Schema: tool.InputSchema}
	if tool.Description != nil {
		described.Description = *tool.Description
	}
	return described
}

// Call runs a tool; name is the server's own name for it.
func (x *Client) Call(ctx context.Context, name string, call toolbox.Call) message.ToolResult {
	ctx, cancel := x.limited(ctx)
	defer cancel()
	r := &runningCall{ctx, call}
	x.running.begin(r)
	defer x.running.finish(r)
	result, err := x.ask(ctx, func(ctx context.Context) error {
		_, err := x.session.CallTool(ctx, &mcp.CallToolParams{
			Meta: mcp.Meta{"progressToken": call.RequestID}, Name: name, Arguments: message.ObjectOrEmpty(call.Arguments),
		})
		return err
	})
	if _, malformed := errors.AsType[*decode.SyntaxError](err); malformed {
		return mcperror.Result(mcperror.UnreadableResult)
	}
	if err != nil {
		return mcperror.Result(err)
	}
	o := result.Object("content", "isError")
	content := decode.MaybeList(o, "content", message.DecodeToolContent)
	if o.Err() != nil {
		return mcperror.Result(mcperror.UnreadableResult)
	}
	if flag := o.Get("isError"); flag.Exists() {
		if failed, err := flag.Bool(); err == nil && failed {
			telemetry.MarkToolError(ctx)
		}
	}
	return message.Success(append([]message.ToolContent{}, content...))
}
