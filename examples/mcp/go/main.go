// Command mcp is an MCP server over standard input and output, with the same tools as node/server.mjs.
package main

import (
	"context"
	"errors"
	"log"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type addition struct {
	A int `json:"a"`
	B int `json:"b"`
}

type growth struct {
	Steps int `json:"steps"`
	Pace  int `json:"pace" jsonschema:"Milliseconds for a step"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "orchard", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two whole numbers"},
		func(_ context.Context, _ *mcp.CallToolRequest, in addition) (*mcp.CallToolResult, any, error) {
			return text(strconv.Itoa(in.A + in.B)), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "grow", Description: "Grows a tree"}, grow)
	mcp.AddTool(server, &mcp.Tool{Name: "fell", Description: "Fails"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("the axe is blunt")
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

// grow takes some steps, and reports each of them to a client that wants progress. It can be cancelled.
func grow(ctx context.Context, req *mcp.CallToolRequest, in growth) (*mcp.CallToolResult, any, error) {
	token := req.Params.GetProgressToken()
	for step := 1; step <= in.Steps; step++ {
		if token != nil {
			params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(step), Total: float64(in.Steps)}
			if err := req.Session.NotifyProgress(ctx, params); err != nil {
				return nil, nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(time.Duration(in.Pace) * time.Millisecond):
		}
	}
	return text("grown"), nil, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
