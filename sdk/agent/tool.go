package agentsdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A RawHandler runs a tool. Its arguments are a JSON object that matches the schema. The context ends when the CLI
// cancels the call, and at shutdown.
type RawHandler func(ctx context.Context, args json.RawMessage, tc ToolContext) (ToolResult, error)

// An SdkTool is a Go function that the model can call. [Tool] and [RawTool] make one.
type SdkTool struct {
	Name        string
	Description string
	InputSchema JSONSchema // of an object
	Annotations *ToolAnnotations
	AlwaysLoad  bool // keep it in the prompt, instead of behind a search tool
	Handler     RawHandler
}

// ToolAnnotations are hints for the CLI. With ReadOnlyHint it may run several calls at the same time.
type ToolAnnotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// A ToolOption changes a tool while it is made.
type ToolOption func(*SdkTool)

// WithAnnotations sets the hints of a tool.
func WithAnnotations(a ToolAnnotations) ToolOption { return func(t *SdkTool) { t.Annotations = &a } }

// ReadOnly tells the CLI that the tool changes nothing, so that it may run calls of it at the same time.
func ReadOnly() ToolOption {
	return func(t *SdkTool) {
		if t.Annotations == nil {
			t.Annotations = &ToolAnnotations{}
		}
		t.Annotations.ReadOnlyHint = new(true)
	}
}

// AlwaysLoad keeps a tool in the prompt. Otherwise the CLI may have the model search for it.
func AlwaysLoad() ToolOption { return func(t *SdkTool) { t.AlwaysLoad = true } }

// A ToolContext describes a call.
type ToolContext struct {
	ToolUseID     string // of the model's message; or the id of the MCP request
	SessionID     string // empty before the first turn
	ServerName    string // the key under which the server is registered
	ToolName      string // the server's own name of the tool
	ProgressToken any
}

// A ToolResult is what the model sees.
type ToolResult struct {
	Content           []ToolResultContent
	IsError           bool
	StructuredContent any
	Meta              map[string]any
}

// MarshalJSON writes an MCP result, whose content is never null.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	return encode(r.wire())
}

// wire returns what the JSON of the result is made of.
func (r ToolResult) wire() any {
	content := make([]any, len(r.Content))
	for i, c := range r.Content {
		content[i] = c.wire()
	}
	return struct {
		Content           []any          `json:"content"`
		IsError           bool           `json:"isError,omitempty"`
		StructuredContent any            `json:"structuredContent,omitempty"`
		Meta              map[string]any `json:"_meta,omitempty"`
	}{content, r.IsError, r.StructuredContent, r.Meta}
}

// UnmarshalJSON reads an MCP result.
func (r *ToolResult) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*struct {
		Content           []ToolResultContent `json:"content"`
		IsError           bool                `json:"isError"`
		StructuredContent any                 `json:"structuredContent"`
		Meta              map[string]any      `json:"_meta"`
	})(r))
}

// A ToolResultContent is a block of a result: text, an image, or any other MCP block as its JSON.
type ToolResultContent struct {
	Type     string // "text" or "image"
	Text     string
	Data     []byte
	MimeType string
	Raw      json.RawMessage // if set, it is sent instead
}

// MarshalJSON writes an MCP content block.
func (c ToolResultContent) MarshalJSON() ([]byte, error) {
	if c.Raw == nil && c.Type != "image" && c.Type != "text" {
		return nil, fmt.Errorf("content of type %q: set Raw", c.Type)
	}
	return encode(c.wire())
}

// wire returns what the JSON of the block is made of. A block that has none is itself: MarshalJSON says why.
func (c ToolResultContent) wire() any {
	switch {
	case c.Raw != nil:
		return c.Raw
	case c.Type == "image":
		return struct {
			Type     string `json:"type"`
			Data     []byte `json:"data"`
			MimeType string `json:"mimeType"`
		}{c.Type, append([]byte{}, c.Data...), c.MimeType}
	case c.Type == "text":
		return struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{c.Type, c.Text}
	}
	return c
}

// UnmarshalJSON reads an MCP content block. A block of another type has only Raw.
func (c *ToolResultContent) UnmarshalJSON(text []byte) error {
	var block struct {
		Type, Text, MimeType string
		Data                 []byte
	}
	if err := json.Unmarshal(text, &block); err != nil {
		return err
	}
	*c = ToolResultContent{Type: block.Type, Text: block.Text, Data: block.Data, MimeType: block.MimeType}
	if c.Type != "text" && c.Type != "image" {
		c.Raw = append(json.RawMessage(nil), text...)
	}
	return nil
}

// TextResult is a result of one text.
func TextResult(s string) ToolResult {
	return ToolResult{Content: []ToolResultContent{{Type: "text", Text: s}}}
}

// ErrorResult tells the model that the call has failed, and why.
func ErrorResult(s string) ToolResult {
	r := TextResult(s)
	r.IsError = true
	return r
}

// ImageResult is a result of one image.
func ImageResult(data []byte, mimeType string) ToolResult {
	return ToolResult{Content: []ToolResultContent{{Type: "image", Data: data, MimeType: mimeType}}}
}

// Tool makes a tool from a function. The fields of the struct In are its arguments ([SchemaFor]).
func Tool[In any](name, description string, fn func(ctx context.Context, in In, tc ToolContext) (ToolResult, error), opts ...ToolOption) (SdkTool, error) {
	schema, err := SchemaFor[In]()
	if err != nil {
		return SdkTool{}, &OptionError{Option: fmt.Sprintf("tool %q", name), Message: err.Error()}
	}
	var handler RawHandler
	if fn != nil {
		handler = func(ctx context.Context, args json.RawMessage, tc ToolContext) (ToolResult, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return ToolResult{}, &argumentsError{tool: name, err: err}
			}
			return fn(ctx, in, tc)
		}
	}
	return RawTool(name, description, schema, handler, opts...)
}

// MustTool is Tool, and panics if the tool cannot be made. It is for tools that are known at compile time.
func MustTool[In any](name, description string, fn func(context.Context, In, ToolContext) (ToolResult, error), opts ...ToolOption) SdkTool {
	t, err := Tool(name, description, fn, opts...)
	if err != nil {
		panic(err)
	}
	return t
}

// RawTool makes a tool with any schema of an object. Its function reads the arguments as JSON.
func RawTool(name, description string, schema JSONSchema, fn RawHandler, opts ...ToolOption) (SdkTool, error) {
	t := SdkTool{Name: name, Description: description, InputSchema: schema, Handler: fn}
	for _, option := range opts {
		option(&t)
	}
	_, err := t.check()
	return t, err
}

// check returns the validator of the tool's arguments.
func (t *SdkTool) check() (*validator, error) {
	v, err := compile(t.InputSchema)
	switch {
	case t.Name == "":
		err = errors.New("it has no name")
	case t.Handler == nil:
		err = errors.New("it has no function that runs it")
	}
	if err != nil {
		return nil, &OptionError{Option: fmt.Sprintf("tool %q", t.Name), Message: err.Error()}
	}
	return v, nil
}

// An argumentsError says which arguments a tool does not accept.
type argumentsError struct {
	tool string
	err  error
}

func (e *argumentsError) Error() string {
	return fmt.Sprintf("invalid arguments of tool %q: %v", e.tool, e.err)
}
func (e *argumentsError) Unwrap() error { return e.err }
