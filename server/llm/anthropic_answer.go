package llm

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// whole reads an answer that was not streamed, as one piece.
func (messages) whole(answer jsonwire.Text) (Piece, error) {
	members := answer.Pick("content", "usage", "model", "stop_reason")
	if members[0].Kind() != "array" {
		return Piece{}, errShape
	}
	var content []message.Content
	for _, block := range members[0].Elements() {
		content = append(content, readBlock(block)...)
	}
	if len(content) == 0 {
		content = []message.Content{message.Text{}}
	}
	var tokens messagesTokens
	tokens.take(members[1])
	return Piece{Message: assistant("", content...), Usage: tokens.usage(), Model: members[2].Str(), finish: members[3].Str()}, nil
}

func readBlock(block jsonwire.Text) []message.Content {
	parts := block.Pick("type", "text", "id", "name", "input", "thinking", "signature", "data")
	switch parts[0].Str() {
	case "text":
		return []message.Content{message.Text{Text: parts[1].Str()}}
	case "tool_use":
		return requests([]wantedCall{{id: parts[2].Str(), name: parts[3].Str(), arguments: parts[4]}})
	case "thinking":
		return []message.Content{message.Thinking{Thinking: parts[5].Str(), Signature: parts[6].Str()}}
	case "redacted_thinking":
		return []message.Content{message.RedactedThinking{Data: parts[7].Str()}}
	}
	return nil
}

// messagesTokens collects the token counts of an answer, which arrive in parts. A later count replaces an earlier
// one.
type messagesTokens struct{ input, created, read, output *int64 }

func (t *messagesTokens) take(value jsonwire.Text) {
	numbers := value.Pick("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
	for i, field := range []**int64{&t.input, &t.created, &t.read, &t.output} {
		if n := count(numbers[i]); n != nil {
			*field = n
		}
	}
}

// usage returns the sums, or nil if nothing is known.
func (t *messagesTokens) usage() *Usage {
	if t.input == nil && t.output == nil {
		return nil
	}
	input := t.input
	for _, more := range []*int64{t.created, t.read} {
		if input != nil && more != nil {
			input = sum(*input, *more)
		}
	}
	return newUsage(input, t.output, nil)
}

// messagesStream reads a streamed answer (decisions M35 to M38).
type messagesStream struct {
	id     string
	tokens messagesTokens
	calls  []wantedCall
	blocks map[string]*messagesBlock // the unfinished blocks by index

	model, stopped string // as the answer says
}

// A messagesBlock is the part of a block that has arrived.
type messagesBlock struct {
	kind                string
	thinking, signature []byte
	data                string
	call                wantedCall
}

func (messages) stream() streamReader { return &messagesStream{blocks: map[string]*messagesBlock{}} }

// read reads the data of one event.
func (s *messagesStream) read(data []byte, yield func(Piece) bool) (more bool, err error) {
	event, err := parse(data)
	if err != nil {
		return false, err
	}
	parts := event.Pick("type", "message", "content_block", "delta", "usage", "index")
	switch parts[0].Str() {
	case "message_start":
		start := parts[1].Pick("id", "usage", "model")
		s.id = cmp.Or(s.id, start[0].Str())
		s.model = start[2].Str()
		s.tokens.take(start[1])
	case "content_block_start":
		s.begin(string(parts[5]), parts[2])
	case "content_block_delta":
		return s.grow(string(parts[5]), parts[3], yield), nil
	case "content_block_stop":
		return s.finish(string(parts[5]), yield), nil
	case "message_delta":
		s.stopped = cmp.Or(parts[3].Get("stop_reason").Str(), s.stopped)
		s.tokens.take(parts[4])
	case "message_stop":
		s.stop(yield)
		return false, nil
	case "error":
		return false, errShape
	}
	return true, nil
}

// stop yields the tool calls together with the usage. So the usage is counted before the calls are sent, as for any
// other chunk (decision M37).
func (s *messagesStream) stop(yield func(Piece) bool) {
	if len(s.calls) == 0 {
		s.end(yield)
		return
	}
	yield(Piece{Message: assistant(s.named(), requests(s.calls)...), Usage: s.tokens.usage()})
}

// end yields the usage. It is also called when the stream ends without an end marker.
func (s *messagesStream) end(yield func(Piece) bool) (complete bool) {
	if usage := s.tokens.usage(); usage != nil {
		yield(Piece{Usage: usage})
	}
	return false
}

func (s *messagesStream) facts() (model, finish string) { return s.model, s.stopped }

func (s *messagesStream) begin(index string, block jsonwire.Text) {
	parts := block.Pick("type", "id", "name", "data")
	s.blocks[index] = &messagesBlock{
		kind: parts[0].Str(),
		data: parts[3].Str(),
		call: wantedCall{id: parts[1].Str(), name: parts[2].Str()},
	}
}

func (s *messagesStream) grow(index string, delta jsonwire.Text, yield func(Piece) bool) (more bool) {
	parts := delta.Pick("type", "text", "partial_json", "thinking", "signature")
	kind := parts[0].Str()
	if kind == "text_delta" {
		return s.yield(yield, message.Text{Text: parts[1].Str()})
	}
	block := s.blocks[index]
	if block == nil {
		return true
	}
	switch kind {
	case "input_json_delta":
		block.call.arguments = append(block.call.arguments, parts[2].Str()...)
	case "thinking_delta":
		block.thinking = append(block.thinking, parts[3].Str()...)
	case "signature_delta":
		block.signature = append(block.signature, parts[4].Str()...)
	}
	return true
}

// finish ends a block. Other blocks may still be open.
func (s *messagesStream) finish(index string, yield func(Piece) bool) (more bool) {
	block := s.blocks[index]
	if block == nil {
		return true
	}
	delete(s.blocks, index) // so that it does not end twice
	switch block.kind {
	case "redacted_thinking":
		return s.yield(yield, message.RedactedThinking{Data: block.data})
	case "tool_use":
		s.calls = append(s.calls, block.call)
	case "thinking":
		return s.yield(yield, message.Thinking{Thinking: string(block.thinking), Signature: string(block.signature)})
	}
	return true
}

func (s *messagesStream) yield(yield func(Piece) bool, content ...message.Content) (more bool) {
	return yield(Piece{Message: assistant(s.named(), content...)})
}

// named returns the ID of the answer, and generates one if it has none.
func (s *messagesStream) named() string {
	if s.id == "" {
		s.id = "msg_" + uuid.NewString()
	}
	return s.id
}
