package message

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// A Result is what came of something (GA 4.3): a value, or the text of an error.
type Result[V any] struct {
	Value V
	Error *string // nil is a success
}

// Success is the result of what went well.
func Success[V any](value V) Result[V] { return Result[V]{Value: value} }

// Failure is the result of what went wrong.
func Failure[V any](text string) Result[V] { return Result[V]{Error: &text} }

// A ToolCall is a tool and what it is called with.
type ToolCall struct {
	Name      string
	Arguments json.RawMessage // an object; nil if the model gave none
}

func decodeResult[V any](v decode.Value, value func(decode.Value) (V, error)) (Result[V], error) {
	status, err := v.Tag("status", "success", "error")
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
func DecodeToolResult(v decode.Value) (Result[[]ToolContent], error) {
	return decodeResult(v, func(v decode.Value) ([]ToolContent, error) {
		list, err := v.Array()
		if err != nil {
			return nil, err
		}
		contents := []ToolContent{}
		for element := range list {
			content, err := DecodeToolContent(element)
			if err != nil {
				return nil, err
			}
			contents = append(contents, content)
		}
		return contents, nil
	})
}

func (r Result[V]) write(w *jsonwire.Writer, value func(V, *jsonwire.Writer)) {
	if r.Error != nil {
		tagged(w, "status", "error")
		member(w, "error", *r.Error)
		w.Close('}')
		return
	}
	tagged(w, "status", "success")
	w.Name("value")
	value(r.Value, w)
	w.Close('}')
}

// Write writes the call as JSON.
func (c ToolCall) Write(w *jsonwire.Writer) {
	w.Open('{')
	member(w, "name", c.Name)
	w.MaybeRaw("arguments", c.Arguments)
	w.Close('}')
}

func writeToolContents(contents []ToolContent, w *jsonwire.Writer) {
	w.Open('[')
	for _, content := range contents {
		content.Write(w)
	}
	w.Close(']')
}
