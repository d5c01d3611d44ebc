// Package llm calls language models (GA 18.7 to 18.9).
//
// A [Factory] creates a [Provider] from a name, a [ModelConfig] and the settings. A provider sends a [Request] in the
// format of one of two APIs, OpenAI's chat completions or Anthropic's Messages, and converts the answer to messages.
// docs/behaviour/goose-api.md, section 34, specifies what is sent.
//
// Everything that a model sends is limited: the lines of a stream, the length of an answer, the body of an error. A
// call ends with its context.
package llm

import (
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
)

// A Request is one question to a model.
type Request struct {
	System string // may be empty
	// Messages are sent unchanged. The caller has repaired them (GA 18.2).
	Messages []message.Message
	Tools    []Tool // sorted by name
	// TextsAlone leaves out the images that are only named in texts (decision M13).
	TextsAlone bool
}

// A Tool is a tool that the model may call.
type Tool = message.Tool

// A Piece is a part of an answer: a message, token counts, or both.
type Piece struct {
	Message *message.Message
	Usage   *Usage
	// Model is the model that has answered, according to the answer. It is empty if the answer does not say, or is
	// streamed.
	Model string

	finish string // why the model has stopped, as Model
}

// Usage is the number of tokens that a call has used. Nil means unknown.
type Usage struct{ Input, Output, Total *int64 }

// newUsage returns a Usage. The total defaults to the sum of both (GA 7.12).
func newUsage(input, output, total *int64) *Usage {
	if total == nil && input != nil && output != nil {
		total = sum(*input, *output)
	}
	return &Usage{Input: input, Output: output, Total: total}
}

// sum adds token counts.
func sum(a, b int64) *int64 { return new(min(a+b, modelconfig.MaxTokens)) }
