package stub

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What OpenAI's chat completions write, as far as a client reads it (API reference, "Chat" and "Chat streaming"). The
// members stand in the order of its own answers.

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
	Message *openaiSaid  `json:"message,omitempty"`
	Delta   *openaiDelta `json:"delta,omitempty"`
	Finish  *string      `json:"finish_reason"`
}

type openaiSaid struct {
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
	Index    *int           `json:"index,omitempty"` // in a stream alone
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

func openaiStop(m *Message) *string {
	stop := m.Stop
	if stop == "" {
		stop = "stop"
		for _, p := range m.Pieces {
			if p.Tool != nil {
				stop = "tool_calls"
			}
		}
	}
	return &stop
}

func openaiMessage(m *Message) []byte {
	said := openaiSaid{Role: "assistant"}
	var text strings.Builder
	for _, p := range m.Pieces {
		switch {
		case p.Text != nil:
			text.WriteString(*p.Text)
			all := text.String()
			said.Content = &all
		case p.Tool != nil:
			said.Calls = append(said.Calls, openaiCall{
				ID: p.Tool.ID, Type: "function", Function: openaiFunction{p.Tool.Name, p.Tool.text()},
			})
		}
	}
	return encode(openaiCompletion{
		ID: m.ID, Object: "chat.completion", Created: time.Now().Unix(), Model: m.Model,
		Choices: []openaiChoice{{Message: &said, Finish: openaiStop(m)}}, Usage: openaiUsageOf(m),
	})
}

// openaiStream writes a message in chunks: the role, the pieces, why it ends, the usage where that is asked for, and that
// it is done.
func openaiStream(r *transcript.Request, m *Message, whole bool) []frame {
	created := time.Now().Unix()
	chunk := func(after time.Duration, choices []openaiChoice, usage *openaiUsage) frame {
		return frame{after, event(encode(openaiCompletion{m.ID, "chat.completion.chunk", created, m.Model, choices, usage}))}
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
	out = append(out, chunk(0, []openaiChoice{{Delta: &openaiDelta{}, Finish: openaiStop(m)}}, nil))
	if wantsUsage(r) {
		out = append(out, chunk(0, []openaiChoice{}, openaiUsageOf(m)))
	}
	return append(out, frame{0, event([]byte("[DONE]"))})
}

// event is one event of a stream, with data and nothing else.
func event(data []byte) []byte { return fmt.Appendf(nil, "data: %s\n\n", data) }

// wantsUsage reports whether a stream is to end with its usage ("stream_options": {"include_usage": true}).
func wantsUsage(r *transcript.Request) bool {
	var body struct {
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	return json.Unmarshal(r.Body.Bytes, &body) == nil && body.Options.Usage
}

func openaiFailure(status int, text string) []byte {
	kind := map[int]string{
		401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error",
	}[status]
	switch {
	case kind == "" && status >= 500:
		kind = "server_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	return encode(map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": nil}})
}

func openaiModels(names []string) []byte {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"id": name, "object": "model", "created": 1700000000, "owned_by": "stub"})
	}
	return encode(map[string]any{"object": "list", "data": list})
}
