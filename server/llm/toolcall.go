package llm

import (
	"encoding/json"
	"regexp"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A wantedCall is a tool call as a model has written it, possibly in parts.
type wantedCall struct {
	id, name  string
	arguments []byte
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// request converts the call to an item of a message. A malformed call becomes an error in it (decision M32).
func (c wantedCall) request() message.ToolRequest {
	if c.id == "" {
		c.id = "call_" + uuid.NewString()
	}
	return message.ToolRequest{ID: c.id, Call: c.result()}
}

func (c wantedCall) result() message.Result[message.ToolCall] {
	if !toolName.MatchString(c.name) {
		return message.Failure[message.ToolCall]("-32600: Invalid tool name: " + c.name)
	}
	arguments := jsonwire.Text("{}")
	if len(c.arguments) > 0 {
		parsed, err := parse(c.arguments)
		if err != nil || parsed.Kind() != "object" {
			return message.Failure[message.ToolCall]("-32602: Invalid arguments of tool call " + c.id)
		}
		arguments = parsed
	}
	return message.Success(message.ToolCall{Name: c.name, Arguments: json.RawMessage(arguments)})
}

// requests converts calls to items of a message.
func requests(calls []wantedCall) []message.Content {
	items := make([]message.Content, len(calls))
	for i, call := range calls {
		items[i] = call.request()
	}
	return items
}
