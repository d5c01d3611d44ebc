package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is the key of the input request and of its response (in newer versions of MCP).
const question = "question"

// ask is called twice: first without the client's answer, then with it.
func ask(c *call) (*mcp.CallToolResult, error) {
	if answer, ok := c.req.Params.InputResponses[question].(*mcp.ElicitResult); ok {
		out, err := json.Marshal(map[string]any{"action": answer.Action, "content": answer.Content})
		return text(string(out)), err
	}
	schema := c.Schema
	if schema == nil {
		schema = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{
		question: &mcp.ElicitParams{Message: cmp.Or(c.Message, "What is the answer?"), RequestedSchema: schema},
	}}, nil
}

// sample is called twice, like ask.
func sample(c *call) (*mcp.CallToolResult, error) {
	if answer, ok := c.req.Params.InputResponses[question]; ok {
		out, err := json.Marshal(answer)
		return text(string(out)), err
	}
	request := c.Request
	if request == nil {
		request = json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Say something."}}],"maxTokens":100}`)
	}
	//lint:ignore SA1019 current clients must support sampling, although the newest protocol drops it
	var params mcp.CreateMessageWithToolsParams
	if err := json.Unmarshal(request, &params); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("request of sample: %v", err)}
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: &params}}, nil
}
