package developer

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// unitTest is the server's only prompt (decision X46).
var unitTest = &mcp.Prompt{
	Name:        "unit_test",
	Description: "Writes unit tests for source code.",
	Arguments: []*mcp.PromptArgument{
		{Name: "source_code", Description: "The code to test", Required: true},
		{Name: "language", Description: "Its language", Required: true},
	},
}

func writeUnitTest(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	values := request.Params.Arguments
	for _, argument := range unitTest.Arguments {
		if _, there := values[argument.Name]; !there {
			return nil, invalid("missing field `%s`", argument.Name)
		}
	}
	said := "Write unit tests for the following " + values["language"] + " code. Cover usual cases, edge cases and failures.\n\n" +
		fenced(values["language"], values["source_code"])
	return &mcp.GetPromptResult{
		Description: unitTest.Description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: said}}},
	}, nil
}
