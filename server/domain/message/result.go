package message

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Result is the outcome of something (GA 4.3): a value, or the text of an error.
type Result[V any] struct {
	Value V
	Error *string // nil means success
}

// Success returns a result with a value.
func Success[V any](value V) Result[V] { return Result[V]{Value: value} }

// Failure returns a result with an error.
func Failure[V any](text string) Result[V] { return Result[V]{Error: &text} }

// A Tool is a tool that a model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of its arguments: a JSON Schema in canonical form
}

// A ToolResult is the result of running a tool.
type ToolResult = Result[[]ToolContent]

// TextResult returns the result of a tool that returns a text.
func TextResult(text string) ToolResult { return Success([]ToolContent{ToolText{Text: text}}) }

// FailedResult returns the result of a tool that failed.
func FailedResult(text string) ToolResult { return Failure[[]ToolContent](text) }

// A ToolCall is a call of a tool with its arguments: an object, or nil if the model gave none.
type ToolCall = api.ToolCall

func decodeResult[V any](v decode.Value, value func(decode.Value) (V, error)) (Result[V], error) {
	status, err := decode.Tag(v, "status", "success", "error")
	if err != nil {
		return Result[V]{}, err
	}
	o := v.Object("value", "error")
	if status == "error" {
		return Failure[V](o.String("error")), o.Err()
	}
	return Success(decode.Field(o, "value", value)), o.Err()
}

func decodeCall(v decode.Value) (Result[ToolCall], error) {
	return decodeResult(v, func(v decode.Value) (ToolCall, error) {
		o := v.Object("name", "arguments")
		return ToolCall{Name: o.String("name"), Arguments: o.MaybeObject("arguments")}, o.Err()
	})
}

// DecodeToolResult reads the result of a tool.
func DecodeToolResult(v decode.Value) (ToolResult, error) {
	return decodeResult(v, decode.ListOf(DecodeToolContent))
}

// callJSON converts the result to its type in the contract.
func callJSON(r Result[ToolCall]) api.ToolCallResult {
	if r.Error != nil {
		return errorJSON(*r.Error)
	}
	return api.ToolCallResult(jsonwire.Marshal(api.ToolCallSuccess{Status: api.ToolCallSuccessStatusSuccess, Value: r.Value}))
}

// resultJSON converts the result to its type in the contract.
func resultJSON(r ToolResult) api.ToolResult {
	if r.Error != nil {
		return errorJSON(*r.Error)
	}
	contents := make([]api.Content, len(r.Value))
	for i, content := range r.Value {
		contents[i] = api.Content(jsonwire.Of(content))
	}
	return api.ToolResult(jsonwire.Marshal(api.ToolResultSuccess{Status: api.ToolResultSuccessStatusSuccess, Value: contents}))
}

func errorJSON(text string) json.RawMessage {
	return json.RawMessage(jsonwire.Marshal(api.ResultError{Status: api.ResultErrorStatusError, Error: text}))
}
