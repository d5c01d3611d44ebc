package stub

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Kind is the kind of API that a server imitates.
type Kind string

const (
	OpenAI    Kind = "openai"    // OpenAI's chat completions, which many other servers have too
	Anthropic Kind = "anthropic" // Anthropic's Messages API
	HTTP      Kind = "http"      // any other API
	OAuth     Kind = "oauth"     // an authorization server
	OTLP      Kind = "otlp"      // a collector of OpenTelemetry
	Stdio     Kind = "stdio"     // a program that the target starts
)

// A format writes the messages of a kind. Those without a chat have only a failure.
type format struct {
	chat    string // path suffix of a request for a message
	message func(*Message) []byte
	stream  func(chat *Chat, m *Message, whole bool) []frame
	failure func(status int, text string) []byte
	builtIn func(s *Server, r *transcript.Request) *Answer // what it answers without a script; nil: nothing
}

var formats = map[Kind]format{
	OpenAI:    {"/chat/completions", openaiMessage, openaiStream, openaiFailure, models(openaiModels)},
	Anthropic: {"/messages", anthropicMessage, anthropicStream, anthropicFailure, models(anthropicModels)},
	HTTP:      {failure: plainFailure},
	OAuth:     {failure: func(_ int, text string) []byte { return refused("server_error", text).Body }, builtIn: authorization},
	OTLP:      {failure: plainFailure, builtIn: collect},
	Stdio:     {failure: func(_ int, text string) []byte { return []byte(text) }},
}

// isRaw reports whether a message is written as raw bytes: all its pieces are raw, or the kind has no messages.
func (f format) isRaw(m *Message) bool {
	if f.message == nil {
		return true
	}
	for _, p := range m.Pieces {
		if p.Raw == nil {
			return false
		}
	}
	return len(m.Pieces) > 0
}

// Chats reports whether the kind is the API of a model.
func (k Kind) Chats() bool { return formats[k].message != nil }

// IsChat reports whether a request asks a model for a message.
func (k Kind) IsChat(r *transcript.Request) bool {
	return k.Chats() && r.Method == "POST" && strings.HasSuffix(path(r), formats[k].chat)
}

// IsProtected reports whether an authorization server answers a request as the MCP server that it protects. Clients send
// the requests of different methods at the same time.
func (k Kind) IsProtected(r *transcript.Request) bool {
	return k == OAuth && strings.HasSuffix(path(r), protectedPath) && !strings.Contains(path(r), "/.well-known/")
}

// BuiltIn returns the server's own response, used when no script has one: the list of models, or that of an
// authorization server. It returns nil for any other request.
func (s *Server) BuiltIn(r *transcript.Request) *Answer {
	if of := formats[s.kind].builtIn; of != nil {
		return of(s, r)
	}
	return nil
}

// models answers requests for the list of models.
func models(list func(names []string) []byte) func(*Server, *transcript.Request) *Answer {
	return func(s *Server, r *transcript.Request) *Answer {
		if r.Method != "GET" || !strings.HasSuffix(path(r), "/models") {
			return nil
		}
		return &Answer{Header: jsonHeader(), Body: list(s.opts.Models)}
	}
}

func path(r *transcript.Request) string {
	p, _, _ := strings.Cut(r.Target, "?")
	return p
}

func plainFailure(status int, text string) []byte {
	return plainjson.Encode(map[string]any{"error": map[string]any{"message": text, "status": status}})
}
