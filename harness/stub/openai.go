package stub

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
)

// These types are OpenAI's chat completions, as far as clients use them (API reference, "Chat" and "Chat streaming").
// The members have the order of OpenAI's own responses.

type openaiCompletion struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []openaiChoice `json:"choices"`
	Usage   *openaiUsage   `json:"usage,omitempty"`
}

type openaiChoice struct {
	Index   int          `json:"index"`
	Message *openaiReply `json:"message,omitempty"`
	Delta   *openaiDelta `json:"delta,omitempty"`
	Finish  *string      `json:"finish_reason"`
}

type openaiReply struct {
	Role    string       `json:"role"`
	Content *string      `json:"content"`
	Calls   []openaiCall `json:"tool_calls,omitempty"`
}

type openaiDelta struct {
	Role    string       `json:"role,omitempty"`
	Content *string      `json:"content,omitempty"`
	Calls   []openaiCall `json:"tool_calls,omitempty"`
}

type openaiCall struct {
	Index    *int           `json:"index,omitempty"` // only in a stream
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function openaiFunction `json:"function"`
}

type openaiFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type openaiUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func openaiUsageOf(m *Message) *openaiUsage {
	return &openaiUsage{m.Input, m.Output, m.Input + m.Output}
}

func openaiMessage(m *Message) []byte {
	reply := openaiReply{Role: "assistant"}
	var text strings.Builder
	for _, p := range m.Pieces {
		switch {
		case p.Text != nil:
			text.WriteString(*p.Text)
			all := text.String()
			reply.Content = &all
		case p.Tool != nil:
			reply.Calls = append(reply.Calls, openaiCall{
				ID: p.Tool.ID, Type: "function", Function: openaiFunction{p.Tool.Name, p.Tool.text()},
			})
		}
	}
	return plainjson.Encode(openaiCompletion{
		ID: m.ID, Object: "chat.completion", Created: time.Now().Unix(), Model: m.Model,
		Choices: []openaiChoice{{Message: &reply, Finish: stopReason(m, "stop", "tool_calls")}}, Usage: openaiUsageOf(m),
	})
}

// openaiStream writes a message as chunks: the role, the pieces, the finish reason, the usage if requested, and [DONE].
func openaiStream(chat *Chat, m *Message, whole bool) []frame {
	created := time.Now().Unix()
	chunk := func(after time.Duration, choices []openaiChoice, usage *openaiUsage) frame {
		return frame{after, event(plainjson.Encode(openaiCompletion{m.ID, "chat.completion.chunk", created, m.Model, choices, usage}))}
	}
	delta := func(after time.Duration, d openaiDelta) frame {
		return chunk(after, []openaiChoice{{Delta: &d}}, nil)
	}
	empty := ""
	var out []frame
	calls := 0
	for i, p := range m.Pieces {
		if i == 0 && p.Raw == nil {
			out = append(out, delta(p.After, openaiDelta{Role: "assistant", Content: &empty}))
			p.After = 0
		}
		switch {
		case p.Text != nil:
			out = append(out, delta(p.After, openaiDelta{Content: p.Text}))
		case p.Tool != nil:
			index := calls
			calls++
			out = append(out, delta(p.After, openaiDelta{Calls: []openaiCall{{&index, p.Tool.ID, "function", openaiFunction{p.Tool.Name, ""}}}}))
			for _, a := range p.Tool.Arguments {
				out = append(out, delta(0, openaiDelta{Calls: []openaiCall{{Index: &index, Function: openaiFunction{Arguments: a}}}}))
			}
		case p.Raw != nil:
			out = append(out, frame{p.After, []byte(*p.Raw)})
		}
	}
	if !whole {
		return out
	}
	out = append(out, chunk(0, []openaiChoice{{Delta: &openaiDelta{}, Finish: stopReason(m, "stop", "tool_calls")}}, nil))
	if chat.Usage {
		out = append(out, chunk(0, []openaiChoice{}, openaiUsageOf(m)))
	}
	return append(out, frame{0, event([]byte("[DONE]"))})
}

// event returns an event with nothing but data.
func event(data []byte) []byte { return fmt.Appendf(nil, "data: %s\n\n", data) }

func openaiFailure(status int, text string) []byte {
	kind := errorType(status, "server_error", map[int]string{
		401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error",
	})
	return plainjson.Encode(map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": nil}})
}

func openaiModels(names []string) []byte {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"id": name, "object": "model", "created": 1700000000, "owned_by": "stub"})
	}
	return plainjson.Encode(map[string]any{"object": "list", "data": list})
}
