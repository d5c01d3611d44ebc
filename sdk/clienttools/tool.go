package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Definition is what the server and the model know about a tool.
type Definition struct {
	ID          string          `json:"id"` // unique within the client
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema object of the input; nil accepts every object
}

// A ClientTool is a tool with the function that runs it. Its context ends after Options.Timeout, or when the client is
// closed. A handler that returns later than the timeout still has its result sent; whether that counts is up to the server.
type ClientTool struct {
	Definition
	Handle func(ctx context.Context, call *Call) (*Result, error)

	invalid error // why Tool could not make it
}

func (t ClientTool) same(other ClientTool) bool { return t.ID == other.ID }

func (t ClientTool) check() error {
	switch {
	case t.invalid != nil:
		return t.invalid
	case t.Handle == nil:
		return errors.New("no Handle: give the function that runs the tool")
	case t.Parameters != nil && members(t.Parameters) == nil:
		return errors.New("its Parameters are not a JSON object: give a JSON Schema")
	}
	return nil
}

// A Result is what a call returned. The model sees Output. Title and Metadata are for people and programs.
type Result struct {
	Title       string         `json:"title"`
	Output      string         `json:"output"`
	Metadata    map[string]any `json:"metadata,omitzero"`
	Attachments []Attachment   `json:"attachments,omitzero"`
}

// An Attachment is a file of a result. Its URL may be a data URL.
type Attachment struct {
	Mime     string `json:"mime"`
	Filename string `json:"filename,omitzero"`
	URL      string `json:"url"`
}

// Tool makes a tool from a function. The JSON Schema of In, which is a struct or a map, describes its input: names come
// from json tags, descriptions from jsonschema tags, and fields without omitempty are required. Input that does not
// match the schema is an error of the call, which the model sees, and f is not called.
//
// If Out is Result or *Result, it is the result. A string is the output, and any other value is the output as JSON; the
// title is then the tool's ID. An error of f is an error of the call, and the model sees its text.
//
// If In has no schema, Register returns the reason. CallOf(ctx) has the IDs of the call.
func Tool[In, Out any](id, description string, f func(ctx context.Context, in In) (Out, error)) ClientTool {
	t := ClientTool{Definition: Definition{ID: id, Description: description}}
	schema, err := jsonschema.For[In](nil)
	if err == nil && schema.Type != "object" {
		err = fmt.Errorf("its input %T is not a struct or a map", *new(In))
	}
	var resolved *jsonschema.Resolved
	if err == nil {
		resolved, err = schema.Resolve(nil)
	}
	if err == nil {
		t.Parameters, err = marshal(schema)
	}
	t.invalid = err
	t.Handle = func(ctx context.Context, call *Call) (*Result, error) {
		var in In
		var value any
		err := json.Unmarshal(call.Input, &value)
		if err == nil {
			err = resolved.Validate(value)
		}
		if err == nil {
			err = json.Unmarshal(call.Input, &in)
		}
		if err != nil {
			return nil, fmt.Errorf("invalid input: %w", err)
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return resultOf(id, out)
	}
	return t
}

func resultOf(id string, out any) (*Result, error) {
	switch out := out.(type) {
	case *Result:
		return out, nil
	case Result:
		return &out, nil
	case string:
		return &Result{Title: id, Output: out}, nil
	}
	data, err := marshal(out)
	if err != nil {
		return nil, fmt.Errorf("result of %s: %w", id, err)
	}
	return &Result{Title: id, Output: string(data)}, nil
}
