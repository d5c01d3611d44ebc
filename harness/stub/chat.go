package stub

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Chat is the part of a request to a model that scripts can match.
type Chat struct {
	Model  string
	Stream bool
	System string
	Last   string  // the texts of the last message
	Result *string // the same, when that message is the result of a tool
	Tools  []string
	Usage  bool // it asks for the usage at the end of the stream
}

// ChatOf reads a request to a model. Members that are missing or have another type stay empty.
func ChatOf(r *transcript.Request) Chat {
	var body struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Messages []chatMessage   `json:"messages"`
		Tools    []chatTool      `json:"tools"`
		System   json.RawMessage `json:"system"`
		Options  struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	_ = json.Unmarshal(r.Body.Bytes, &body) // what fails to parse stays empty, and the rules decide on the response
	c := Chat{Model: body.Model, Stream: body.Stream, Usage: body.Options.Usage}
	system := []string{texts(body.System)}
	for _, m := range body.Messages {
		if m.Role == "system" || m.Role == "developer" {
			system = append(system, texts(m.Content))
		}
	}
	c.System = strings.Trim(strings.Join(system, "\n"), "\n")
	for _, t := range body.Tools {
		c.Tools = append(c.Tools, t.Function.Name+t.Name)
	}
	if n := len(body.Messages); n > 0 {
		last := body.Messages[n-1]
		c.Last = texts(last.Content)
		if last.Role == "tool" || isResult(last.Content) {
			c.Result = &c.Last
		}
	}
	return c
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type chatTool struct {
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

type chatBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // the result of a tool
}

func blocks(content json.RawMessage) (out []chatBlock) {
	_ = json.Unmarshal(content, &out)
	return out
}

// texts joins the texts of a content, which is a string or a list of blocks.
func texts(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var all []string
	for _, b := range blocks(content) {
		if b.Type == "tool_result" {
			b.Text = texts(b.Content)
		}
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

func isResult(content json.RawMessage) bool {
	for _, b := range blocks(content) {
		if b.Type == "tool_result" {
			return true
		}
	}
	return false
}
