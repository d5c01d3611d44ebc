package llm

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/message"
)

// A wantedCall is a tool call as a model has written it, possibly in parts.
type wantedCall struct {
	id, name  string
	arguments []byte
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// request makes an item of a message of the call; what is malformed is told inside it (decision M32).
func (c wantedCall) request() message.ToolRequest {
	if c.id == "" {
		c.id = "call_" + NewID()
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

// requests returns the calls as items of a message.
func requests(calls []wantedCall) []message.Content {
	items := make([]message.Content, len(calls))
	for i, call := range calls {
		items[i] = call.request()
	}
	return items
}

// NewID returns a random UUID (RFC 9562 §5.4).
func NewID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
