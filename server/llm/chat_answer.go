package llm

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

var errShape = errors.New("the answer is not what was expected")

// first returns the first element of an array.
func first(value jsonwire.Text) jsonwire.Text {
	for _, element := range value.Elements() {
		return element
	}
	return nil
}

// count returns a token count, or nil if there is none or it is impossible (decision M54).
func count(value jsonwire.Text) *int64 {
	if n, ok := value.Integer(); ok && 0 <= n && n <= modelconfig.MaxTokens {
		return &n
	}
	return nil
}

// assistant returns a message of the model.
func assistant(id string, content ...message.Content) *message.Message {
	return &message.Message{
		ID: id, Role: message.Assistant, Created: time.Now().Unix(), Content: content, Metadata: message.Visible,
	}
}

// whole reads an answer that was not streamed, as one piece (decision M35).
func (chat) whole(answer jsonwire.Text) (Piece, error) {
	members := answer.Pick("choices", "usage", "model")
	said := first(members[0]).Get("message")
	if said.Kind() != "object" {
		return Piece{}, errShape
	}
	parts := said.Pick("content", "tool_calls")
	var calls chatCalls
	calls.add(parts[1])
	var content []message.Content
	if text := parts[0].Str(); text != "" || len(calls) == 0 {
		content = append(content, message.Text{Text: text})
	}
	content = append(content, requests(calls.wanted())...)
	return Piece{Message: assistant("", content...), Usage: chatUsage(members[1]), Model: members[2].Str(), finish: first(members[0]).Get("finish_reason").Str()}, nil
}

// chatUsage returns the token counts of an answer, or nil if it has none.
func chatUsage(value jsonwire.Text) *Usage {
	if value.Kind() != "object" {
		return nil
	}
	tokens := value.Pick("prompt_tokens", "completion_tokens", "total_tokens")
	return newUsage(count(tokens[0]), count(tokens[1]), count(tokens[2]))
}

// chatCalls are the tool calls of an answer by index. Only the arguments arrive in parts (GA 18.8). The first ID and
// the first name are kept.
type chatCalls map[int64]*wantedCall

// add adds an array of calls or parts of calls. Parts with the same index belong together.
func (c *chatCalls) add(value jsonwire.Text) {
	for i, element := range value.Elements() {
		parts := element.Pick("index", "id", "function")
		function := parts[2].Pick("name", "arguments")
		index, ok := parts[0].Integer()
		if !ok {
			index = int64(i)
		}
		call := c.at(index)
		call.id = cmp.Or(call.id, parts[1].Str())
		call.name = cmp.Or(call.name, function[0].Str())
		call.arguments = append(call.arguments, function[1].Str()...)
	}
}

func (c *chatCalls) at(index int64) *wantedCall {
	if *c == nil {
		*c = chatCalls{}
	}
	if (*c)[index] == nil {
		(*c)[index] = &wantedCall{}
	}
	return (*c)[index]
}

// wanted returns the calls in the order of their indexes.
func (c chatCalls) wanted() (calls []wantedCall) {
	for _, index := range slices.Sorted(maps.Keys(c)) {
		calls = append(calls, *c[index])
	}
	return calls
}

// chatStream reads a streamed answer (decisions M35 to M38).
type chatStream struct {
	id       string
	calls    chatCalls
	finished bool // a finish_reason has arrived

	model, finish string // as the answer says
}

func (chat) stream() streamReader { return &chatStream{} }

var chatDone = []byte("[DONE]")

// read reads the data of one event.
func (s *chatStream) read(data []byte, yield func(Piece) bool) (more bool, err error) {
	if bytes.Equal(data, chatDone) {
		s.yieldCalls(yield)
		return false, nil
	}
	chunk, err := parse(data)
	if err != nil {
		return false, err
	}
	members := chunk.Pick("id", "model", "choices", "usage", "error")
	if chunk.Kind() != "object" || members[4].Kind() != "undefined" && members[4].Kind() != "null" {
		return false, errShape
	}
	if s.id == "" {
		s.id = members[0].Str()
	}
	s.model = cmp.Or(members[1].Str(), s.model)
	if usage := chatUsage(members[3]); usage != nil && members[1].Kind() == "string" && !yield(Piece{Usage: usage}) {
		return false, nil
	}
	choice := first(members[2]).Pick("delta", "finish_reason")
	delta := choice[0].Pick("content", "tool_calls")
	if delta[0].Kind() == "string" && !yield(Piece{Message: assistant(s.named(), message.Text{Text: delta[0].Str()})}) {
		return false, nil
	}
	s.calls.add(delta[1])
	if choice[1].Kind() == "string" {
		s.finished, s.finish = true, choice[1].Str()
		return s.yieldCalls(yield), nil
	}
	return true, nil
}

// end handles a stream that ends without an end marker.
func (s *chatStream) end(func(Piece) bool) bool { return s.finished }

func (s *chatStream) facts() (model, finish string) { return s.model, s.finish }

// yieldCalls yields the remaining calls as one piece.
func (s *chatStream) yieldCalls(yield func(Piece) bool) (more bool) {
	if len(s.calls) == 0 {
		return true
	}
	content := requests(s.calls.wanted())
	s.calls = nil
	return yield(Piece{Message: assistant(s.named(), content...)})
}

// named returns the ID of the answer, and generates one if it has none.
func (s *chatStream) named() string {
	if s.id == "" {
		s.id = "msg_" + uuid.NewString()
	}
	return s.id
}
