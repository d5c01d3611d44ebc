package stub

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
)

// These types are Anthropic's Messages API, as far as clients use it (API reference, "Messages" and "Streaming
// messages"). The members have the order of Anthropic's own responses.

type anthropicReply struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        anthropicUsage   `json:"usage"`
}

// An anthropicBlock is a part of a message. Its type decides which members it has.
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

// signature is used as the signature of every thinking block.
var signature = "c3R1Yg=="

// anthropicBlocks joins adjacent texts of a message to one block, and adjacent thoughts too. It also returns the pieces
// of each block.
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

func anthropicMessage(m *Message) []byte {
	blocks, _ := anthropicBlocks(m)
	content := []anthropicBlock{}
	for _, b := range blocks {
		if b.Type != "raw" {
			content = append(content, b)
		}
	}
	return plainjson.Encode(anthropicReply{
		ID: m.ID, Type: "message", Role: "assistant", Model: m.Model, Content: content, StopReason: stopReason(m, "end_turn", "tool_use"), Usage: anthropicUsage{m.Input, m.Output},
	})
}

// anthropicStream writes a message as events: its start, each block with start, deltas and stop, the stop reason, and
// its stop.
func anthropicStream(_ *Chat, m *Message, whole bool) []frame {
	var out []frame
	add := func(after time.Duration, name string, members map[string]any) {
		members["type"] = name
		out = append(out, frame{after, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, plainjson.Encode(members))})
	}
	blocks, pieces := anthropicBlocks(m)
	first := time.Duration(0)
	if len(m.Pieces) > 0 && m.Pieces[0].Raw == nil {
		first, pieces[0][0].After = m.Pieces[0].After, 0
	}
	if len(blocks) == 0 || blocks[0].Type != "raw" {
		add(first, "message_start", map[string]any{"message": anthropicReply{
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
			return out // the response is cut off inside this block
		}
		if b.Type == "thinking" {
			add(0, "content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "signature_delta", "signature": signature}})
		}
		add(0, "content_block_stop", map[string]any{"index": index})
		index++
	}
	if whole {
		add(0, "message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": stopReason(m, "end_turn", "tool_use"), "stop_sequence": nil}, "usage": map[string]any{"output_tokens": m.Output},
		})
		add(0, "message_stop", map[string]any{})
	}
	return out
}

// anthropicEmpty returns the block of a start event.
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
	kind := errorType(status, "api_error", map[int]string{
		401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
		529: "overloaded_error",
	})
	return plainjson.Encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
}

func anthropicModels(names []string) []byte {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "2023-11-14T22:13:20Z"})
	}
	return plainjson.Encode(map[string]any{"data": list, "has_more": false, "first_id": names[0], "last_id": names[len(names)-1]})
}
