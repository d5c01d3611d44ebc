package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonschema"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// outputTool is the tool that the model calls with its final output (GA 7.13).
const outputTool = "recipe__final_output"

// Texts about the final output (GA 7.14, decision M34).
const (
	outputDescription = "Gives the final output of the conversation. Call it once, when the work is done. The output has to match this schema:\n"
	outputTaken       = "Final output successfully collected."
	outputUndefined   = "-32603: Final output tool not defined"
	orderOutput       = "You MUST call the `final_output` tool NOW with the final output for the user."
)

// A FinalOutput is the final output that a recipe requires.
type FinalOutput struct {
	text   json.RawMessage
	schema *jsonschema.Schema
	shown  string // the schema as the model reads it
}

// NewFinalOutput returns a final output with a JSON Schema, which must be a non-empty object (decision G16).
func NewFinalOutput(text json.RawMessage) (*FinalOutput, error) {
	if jsonwire.Text(text).Kind() != "object" || string(text) == "{}" {
		return nil, errors.New("the response needs a JSON Schema that is an object, and not empty")
	}
	compiled, err := jsonschema.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("JSON schema validation failed: %w", err)
	}
	return &FinalOutput{text, compiled, compiled.Shown()}, nil
}

func (o *FinalOutput) tool() llm.Tool {
	return llm.Tool{Name: outputTool, Description: outputDescription + o.shown, Schema: o.text}
}

// wrong returns why arguments are not a valid output, or "" if they are.
func (o *FinalOutput) wrong(arguments json.RawMessage) string {
	const shown = 20
	problems, more := o.schema.Judge(arguments, shown)
	if len(problems) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("-32602: Validation failed:\n")
	for _, p := range problems {
		fmt.Fprintf(&b, "- %s: %s\n", p.At, p.Reason)
	}
	if more > 0 {
		fmt.Fprintf(&b, "- %d more\n", more)
	}
	b.WriteString("\nExpected format:\n" + o.shown)
	b.WriteString("\n\nPlease correct your output to match the expected JSON schema and try again.")
	return b.String()
}

// takeOutput answers the model's call with its final output, and collects a valid one. wanted is nil if none is defined.
func takeOutput(arguments json.RawMessage, wanted *FinalOutput, collected *atomic.Pointer[string]) message.ToolResult {
	if wanted == nil {
		return message.FailedResult(outputUndefined)
	}
	arguments = message.ObjectOrEmpty(arguments)
	if wrong := wanted.wrong(arguments); wrong != "" {
		return message.FailedResult(wrong)
	}
	collected.Store(new(string(arguments)))
	return message.TextResult(outputTaken)
}
