package stub

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What Anthropic's Messages write, as far as a client reads it (API reference, "Messages" and "Streaming messages"). The
// members stand in the order of its own answers.

type anthropicSaid struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        anthropicUsage   `json:"usage"`
}

// An anthropicBlock is a part of a message. Which members it has depends on its type.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

type anthropicUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// signature is what stands for the signature of what a model thinks.
var signature = "c3R1Yg=="

// anthropicBlocks puts a message's pieces together: texts that follow one another are one block, and so are thoughts. Each
// block has the pieces that it is made of.
func anthropicBlocks(m *Message) (blocks []anthropicBlock, pieces [][]Piece) {
	for _, p := range m.Pieces {
		kind := anthropicType(p)
		last := len(blocks) - 1
		if last < 0 || blocks[last].Type != kind || p.Tool != nil {
			blocks, pieces = append(blocks, anthropicBlock{Type: kind}), append(pieces, nil)
			last++
		}
		pieces[last] = append(pieces[last], p)
		switch b := &blocks[last]; {
		case p.Text != nil:
			b.Text = joined(b.Text, *p.Text)
		case p.Thinking != nil:
			b.Thinking, b.Signature = joined(b.Thinking, *p.Thinking), &signature
		case p.Tool != nil:
			b.ID, b.Name, b.Input = p.Tool.ID, p.Tool.Name, p.Tool.input()
		}
	}
	return blocks, pieces
}

func anthropicType(p Piece) string {
	switch {
	case p.Thinking != nil:
		return "thinking"
	case p.Tool != nil:
		return "tool_use"
	case p.Raw != nil:
		return "raw"
	default:
		return "text"
	}
}

func joined(before *string, more string) *string {
	if before != nil {
		more = *before + more
	}
	return &more
}

func anthropicStop(m *Message) *string {
	stop := m.Stop
	if stop == "" {
		stop = "end_turn"
		for _, p := range m.Pieces {
			if p.Tool != nil {
				stop = "tool_use"
			}
		}
	}
	return &stop
}

func anthropicMessage(m *Message) []byte {
	blocks, _ := anthropicBlocks(m)
	said := []anthropicBlock{}
	for _, b := range blocks {
		if b.Type != "raw" {
			said = append(said, b)
		}
	}
	return encode(anthropicSaid{
		ID: m.ID, Type: "message", Role: "assistant", Model: m.Model, Content: said, StopReason: anthropicStop(m), Usage: anthropicUsage{m.Input, m.Output},
	})
}

// anthropicStream writes a message in events: its beginning, each block with its beginning, pieces and end, why it ends, and
// its end.
func anthropicStream(_ *transcript.Request, m *Message, whole bool) []frame {
	var out []frame
	add := func(after time.Duration, name string, members map[string]any) {
		members["type"] = name
		out = append(out, frame{after, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, encode(members))})
	}
	blocks, pieces := anthropicBlocks(m)
	first := time.Duration(0)
	if len(m.Pieces) > 0 && m.Pieces[0].Raw == nil {
		first, pieces[0][0].After = m.Pieces[0].After, 0
	}
	if len(blocks) == 0 || blocks[0].Type != "raw" {
		add(first, "message_start", map[string]any{"message": anthropicSaid{
			ID: m.ID, Type: "message", Role: "assistant", Model: m.Model, Content: []anthropicBlock{}, Usage: anthropicUsage{Input: m.Input},
		}})
	}
	index := 0
	for i, b := range blocks {
		if b.Type == "raw" {
			for _, p := range pieces[i] {
				out = append(out, frame{p.After, []byte(*p.Raw)})
			}
			continue
		}
		add(pieces[i][0].After, "content_block_start", map[string]any{"index": index, "content_block": anthropicEmpty(b)})
		pieces[i][0].After = 0
		for _, p := range pieces[i] {
			for _, d := range anthropicDeltas(p) {
				add(p.After, "content_block_delta", map[string]any{"index": index, "delta": d})
				p.After = 0
			}
		}
		if !whole && i == len(blocks)-1 {
			return out // it is cut off in the middle of this one
		}
		if b.Type == "thinking" {
			add(0, "content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "signature_delta", "signature": signature}})
		}
		add(0, "content_block_stop", map[string]any{"index": index})
		index++
	}
	if whole {
		add(0, "message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": anthropicStop(m), "stop_sequence": nil}, "usage": map[string]any{"output_tokens": m.Output},
		})
		add(0, "message_stop", map[string]any{})
	}
	return out
}

// anthropicEmpty is a block as it begins.
func anthropicEmpty(b anthropicBlock) anthropicBlock {
	empty := ""
	switch b.Type {
	case "text":
		return anthropicBlock{Type: b.Type, Text: &empty}
	case "thinking":
		return anthropicBlock{Type: b.Type, Thinking: &empty, Signature: &empty}
	default:
		b.Input = json.RawMessage("{}")
		return b
	}
}

func anthropicDeltas(p Piece) (out []map[string]any) {
	switch {
	case p.Text != nil:
		return []map[string]any{{"type": "text_delta", "text": *p.Text}}
	case p.Thinking != nil:
		return []map[string]any{{"type": "thinking_delta", "thinking": *p.Thinking}}
	}
	for _, text := range p.Tool.Arguments {
		out = append(out, map[string]any{"type": "input_json_delta", "partial_json": text})
	}
	return out
}

func anthropicFailure(status int, text string) []byte {
	kind := map[int]string{
		401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
		529: "overloaded_error",
	}[status]
	switch {
	case kind == "" && status >= 500:
		kind = "api_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	return encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
}

func anthropicModels(names []string) []byte {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "2023-11-14T22:13:20Z"})
	}
	return encode(map[string]any{"data": list, "has_more": false, "first_id": names[0], "last_id": names[len(names)-1]})
}
