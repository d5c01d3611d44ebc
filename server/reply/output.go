package reply

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
)

// outputTool is what the model calls with its final output (GA 7.13).
const outputTool = "recipe__final_output"

// A FinalOutput is what a recipe wants to have at the end (decision M34).
type FinalOutput struct {
	schema   json.RawMessage
	compiled *jsonschema.Schema
}

// NewFinalOutput returns the output that a JSON Schema describes.
func NewFinalOutput(schema json.RawMessage) (*FinalOutput, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
	const name = "output:schema"
	if err := compiler.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile the schema: %w", err)
	}
	return &FinalOutput{schema, compiled}, nil
}

func (o *FinalOutput) tool() llm.Tool {
	return llm.Tool{
		Name:        outputTool,
		Description: "Gives the final output of the conversation. Call it once, when the work is done.",
		Schema:      o.schema,
	}
}

// takeOutput takes what the model gives as the final output, if it is valid.
func (t *turn) takeOutput(o *FinalOutput, arguments json.RawMessage) message.Result[[]message.ToolContent] {
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err == nil {
		err = o.compiled.Validate(value)
	}
	if err != nil {
		return message.Failure[[]message.ToolContent]("-32602: The final output does not match its schema")
	}
	t.collect(string(arguments))
	return message.Success([]message.ToolContent{message.ToolText{Text: "The final output was accepted."}})
}
