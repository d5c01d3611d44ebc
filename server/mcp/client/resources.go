package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// HasResources reports whether the server offers resources.
func (x *Client) HasResources() bool {
	return x.session.InitializeResult().Capabilities.Resources != nil
}

// Resources returns the resources of the server.
func (x *Client) Resources(ctx context.Context) (all []toolbox.Resource, err error) {
	err = x.pages(ctx, func(ctx context.Context, cursor string) (result decode.Value, next *string, err error) {
		result, err = x.askReadable(ctx, func(ctx context.Context) error {
			_, err := x.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			return err
		})
		if err != nil {
			return result, nil, err
		}
		o := result.Object("resources", "nextCursor")
		all = append(all, decode.List(o, "resources", decodeListed)...)
		return result, o.MaybeString("nextCursor"), listError(o, mcperror.UnreadableResult)
	}, mcperror.UnreadableResult)
	if err != nil {
		return nil, err
	}
	return all, nil
}

func decodeListed(v decode.Value) (toolbox.Resource, error) {
	o := v.Object("uri", "name")
	return toolbox.Resource{URI: o.String("uri"), Name: o.String("name")}, o.Err()
}

// Resource requests a resource. Its contents have the form of items of a tool's result.
func (x *Client) Resource(ctx context.Context, uri string) ([]message.ToolContent, error) {
	result, err := x.askReadable(ctx, func(ctx context.Context) error {
		_, err := x.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return nil, err
	}
	o := result.Object("contents")
	contents := decode.List(o, "contents", decodeContents)
	if o.Err() != nil {
		return nil, mcperror.UnreadableResult
	}
	return append([]message.ToolContent{}, contents...), nil
}

// decodeContents decodes one content of a resource as a tool's result would embed it.
func decodeContents(v decode.Value) (message.ToolContent, error) {
	item, err := decode.Parse(append(append(json.RawMessage(`{"type":"resource","resource":`), v.Any()...), '}'))
	if err != nil {
		return nil, err
	}
	return message.DecodeToolContent(item)
}

// askReadable makes one request with a time limit. If the result is not JSON, the error says that it cannot be read.
func (x *Client) askReadable(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	result, err := x.askInTime(ctx, request)
	if _, malformed := errors.AsType[*decode.SyntaxError](err); malformed {
		return result, mcperror.UnreadableResult
	}
	return result, err
}
