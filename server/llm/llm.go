// Package llm asks language models (GA 18.7 to 18.9).
//
// A [Factory] makes a [Provider] of a name, a [ModelConfig] and the settings. A provider puts a [Request] on the wire of
// one of two APIs, OpenAI's chat completions and Anthropic's Messages, and makes messages of what comes back. What is sent
// is in docs/behaviour/goose-api.md, section 34.
//
// Everything that comes from a model is bounded: the lines of a stream, the length of an answer, the body of an error.
// A call ends with its context.
package llm

import (
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
)

// A Request is one question to a model.
type Request struct {
	System string // may be empty
	// Messages are sent as they are: the caller has repaired them (GA 18.2).
	Messages []message.Message
	Tools    []Tool // sorted by name
	// TextsAlone says that images which texts only name are not sent (decision M13).
	TextsAlone bool
}

// A Tool is what the model may call.
type Tool = message.Tool

// A Piece is a part of an answer: a message, or numbers, or both.
type Piece struct {
	Message *message.Message
	Usage   *Usage
	// Model is who has answered, as the answer says; empty if it does not, or is streamed.
	Model string
}

// Usage is what a call has cost, in tokens; nil is unknown.
type Usage struct{ Input, Output, Total *int64 }

// newUsage returns usage with its default: the total is the sum of both (GA 7.12).
func newUsage(input, output, total *int64) *Usage {
	if total == nil && input != nil && output != nil {
		total = sum(*input, *output)
	}
	return &Usage{Input: input, Output: output, Total: total}
}

// sum adds numbers of tokens.
func sum(a, b int64) *int64 { return new(min(a+b, modelconfig.MaxTokens)) }
