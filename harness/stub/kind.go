package stub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Kind is what a server stands for.
type Kind string

// The kinds.
const (
	OpenAI Kind = "openai" // chat completions, as OpenAI and many others have them
	// Anthropic is its Messages.
	Anthropic Kind = "anthropic"
	HTTP      Kind = "http" // any server
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{OpenAI, Anthropic, HTTP} }

// A wire writes messages down as a kind has them. One that is no model's has failure alone.
type wire struct {
	chat    string // what the path of a request for a message ends in
	message func(*Message) []byte
	stream  func(r *transcript.Request, m *Message, whole bool) []frame
	failure func(status int, text string) []byte
	models  func(names []string) []byte
}

var wires = map[Kind]wire{
	OpenAI:    {"/chat/completions", openaiMessage, openaiStream, openaiFailure, openaiModels},
	Anthropic: {"/messages", anthropicMessage, anthropicStream, anthropicFailure, anthropicModels},
	HTTP:      {failure: plainFailure},
}

// raw reports whether a message is to be written as bytes as they are: when all of its pieces are, or when the kind has no
// messages.
func (w wire) raw(m *Message) bool {
	if w.message == nil {
		return true
	}
	for _, p := range m.Pieces {
		if p.Raw == nil {
			return false
		}
	}
	return len(m.Pieces) > 0
}

// Chats reports whether requests of the kind are for messages of a model.
func (k Kind) Chats() bool { return wires[k].message != nil }

// IsChat reports whether a request is for a message of a model.
func (k Kind) IsChat(r *transcript.Request) bool {
	return k.Chats() && r.Method == "POST" && strings.HasSuffix(path(r), wires[k].chat)
}

// Standing returns what the server answers by itself when no script does: the list of models; nil for everything else.
func (s *Server) Standing(r *transcript.Request) *Answer {
	w := wires[s.kind]
	if w.models == nil || r.Method != "GET" || !strings.HasSuffix(path(r), "/models") {
		return nil
	}
	return &Answer{Header: jsonHeader(), Body: w.models(s.opts.Models)}
}

func path(r *transcript.Request) string {
	p, _, _ := strings.Cut(r.Target, "?")
	return p
}

// asksForStream reports whether a request wants its answer streamed.
func asksForStream(r *transcript.Request) bool {
	var body struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(r.Body.Bytes, &body) // what is no JSON asks for nothing
	return body.Stream
}

func plainFailure(status int, text string) []byte {
	return encode(map[string]any{"error": map[string]any{"message": text, "status": status}})
}

// encode writes JSON without the escapes that make it fit for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("stub: a value of ours does not encode: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
