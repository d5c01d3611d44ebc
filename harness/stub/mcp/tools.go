package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is an MCP tool that targets can call.
type tool struct {
	name, doc string
	arguments map[string]argument
	call      func(c *call) (*mcp.CallToolResult, error)
}

// An argument describes an argument of a tool. All arguments are optional.
type argument struct{ kind, doc string }

// A call is a tool call with its arguments.
type call struct {
	ctx  context.Context
	req  *mcp.CallToolRequest
	opts *Options
	arguments
}

// arguments are the arguments of all tools except echo.
type arguments struct {
	Steps      int             `json:"steps"`
	Pace       int             `json:"pace"`
	Text       string          `json:"text"`
	Code       int64           `json:"code"`
	Message    string          `json:"message"`
	Schema     json.RawMessage `json:"schema"`
	Characters int             `json:"characters"`
	Name       string          `json:"name"`
	Level      string          `json:"level"`
	Meta       mcp.Meta        `json:"meta"`
	Request    json.RawMessage `json:"request"`
}

// Limits for the arguments.
const (
	maxSteps      = 1000
	maxPace       = 60_000 // milliseconds
	maxCharacters = 16 << 20
)

var tools = []tool{
	{"echo", "Returns its arguments, as the text that came", nil, echo},
	{"slow", "Takes its time, and tells with progress and log notifications how far it is", map[string]argument{
		"steps": {"integer", "how many steps it takes: 3"},
		"pace":  {"integer", "milliseconds before each: 50"},
		"text":  {"string", "what it returns"},
		"level": {"string", "of its log notifications: info"},
		"meta":  {"object", "what its notifications have as _meta: nothing"},
	}, slow},
	{"fail", "Returns an error of the tool", map[string]argument{"text": {"string", "what it says"}}, fail},
	{"explode", "Answers with an error of the protocol", map[string]argument{
		"code":    {"integer", "the error's code: -32000"},
		"message": {"string", "what it says"},
	}, explode},
	{"ask", "Asks the user (elicitation), and returns the answer", map[string]argument{
		"message": {"string", "the question"},
		"schema":  {"object", "the JSON Schema of the answer: an object with a string called answer"},
	}, ask},
	{"sample", "Asks the client's model (sampling), and returns what comes", map[string]argument{
		"request": {"object", "what is asked, the parameters of sampling/createMessage: to say something"},
	}, sample},
	{"big", "Returns a long text", map[string]argument{"characters": {"integer", "how long it is: 1000"}}, big},
	{"env", "Returns the value of an environment variable of the server", map[string]argument{"name": {"string", "its name"}}, env},
	{"image", "Returns an image of one pixel, beside a text", nil, image},
	{"resource", "Returns a resource, and a link to it", nil, resource},
}

// schema returns the JSON Schema of the tool's arguments.
func (t *tool) schema() map[string]any {
	properties := map[string]any{}
	for name, a := range t.arguments {
		properties[name] = map[string]any{"type": a.kind, "description": a.doc}
	}
	return map[string]any{"type": "object", "properties": properties}
}

func (t *tool) handler(opts *Options) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := &call{ctx: ctx, req: req, opts: opts}
		if raw := req.Params.Arguments; len(raw) > 0 && t.name != "echo" {
			if err := json.Unmarshal(raw, &c.arguments); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("arguments of %s: %v", t.name, err)}
			}
		}
		return t.call(c)
	}
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// bounded limits a number. It returns the default for a number that is not positive.
func bounded(n, otherwise, limit int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, limit)
}

// echo returns the received bytes, so numbers keep their digits.
func echo(c *call) (*mcp.CallToolResult, error) {
	return text(cmp.Or(string(c.req.Params.Arguments), "{}")), nil
}

func slow(c *call) (*mcp.CallToolResult, error) {
	steps, pace := bounded(c.Steps, 3, maxSteps), bounded(c.Pace, 50, maxPace)
	token := c.req.Params.GetProgressToken()
	for i := 1; i <= steps; i++ {
		timer := time.NewTimer(time.Duration(pace) * time.Millisecond)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
			return nil, context.Cause(c.ctx)
		}
		message := fmt.Sprintf("step %d of %d", i, steps)
		if token != nil {
			progress := &mcp.ProgressNotificationParams{Meta: c.Meta, ProgressToken: token, Progress: float64(i), Total: float64(steps), Message: message}
			if err := c.req.Session.NotifyProgress(c.ctx, progress); err != nil {
				return nil, err
			}
		}
		//lint:ignore SA1019 current clients must support log notifications, although the newest protocol drops them
		log := &mcp.LoggingMessageParams{Meta: c.Meta, Level: mcp.LoggingLevel(cmp.Or(c.Level, "info")), Logger: "slow", Data: message}
		//lint:ignore SA1019 as above
		if err := c.req.Session.Log(c.ctx, log); err != nil {
			return nil, err
		}
	}
	return text(cmp.Or(c.Text, fmt.Sprintf("done: %d of %d", steps, steps))), nil
}

func fail(c *call) (*mcp.CallToolResult, error) {
	result := text(cmp.Or(c.Text, "it failed"))
	result.IsError = true
	return result, nil
}

func explode(c *call) (*mcp.CallToolResult, error) {
	return nil, &jsonrpc.Error{Code: cmp.Or(c.Code, -32000), Message: cmp.Or(c.Message, "it exploded")}
}

func big(c *call) (*mcp.CallToolResult, error) {
	return text(strings.Repeat("x", bounded(c.Characters, 1000, maxCharacters))), nil
}

func env(c *call) (*mcp.CallToolResult, error) {
	if value := c.opts.Getenv(c.Name); value != "" {
		return text(value), nil
	}
	result := text(fmt.Sprintf("%s is not set", c.Name))
	result.IsError = true
	return result, nil
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func image(*call) (*mcp.CallToolResult, error) {
	data, err := base64.StdEncoding.DecodeString(pixel)
	result := text("a pixel")
	result.Content = append(result.Content, &mcp.ImageContent{Data: data, MIMEType: "image/png"})
	return result, err
}

func resource(*call) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.EmbeddedResource{Resource: greeting()},
		&mcp.ResourceLink{URI: Greeting, Name: "greeting", MIMEType: "text/plain"},
	}}, nil
}
