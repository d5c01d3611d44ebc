package llm

import (
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// messages is the format of Anthropic's Messages API (GA 18.8).
type messages struct{}

func (messages) model(config ModelConfig) string { return config.ModelName }

// defaultMaxTokens is sent if none is configured, because the API requires a number.
const defaultMaxTokens = 8192

// body returns the body of a request (decision M9).
func (messages) body(config ModelConfig, r Request, stream bool) jsonwire.Text {
	maxTokens := int64(defaultMaxTokens)
	if config.MaxTokens != nil {
		maxTokens = *config.MaxTokens
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("model").String(config.ModelName)
	w.Name("max_tokens").Int(maxTokens)
	if r.System != "" {
		w.Name("system").String(r.System)
	}
	w.Name("messages").Open('[')
	for _, m := range r.Messages {
		writeBlocks(w, m)
	}
	w.Close(']')
	if len(r.Tools) > 0 {
		w.Name("tools").Open('[')
		for _, tool := range r.Tools {
			w.Open('{')
			w.Name("name").String(tool.Name)
			w.Name("description").String(tool.Description)
			w.Name("input_schema").Raw(tool.Schema)
			w.Close('}')
		}
		w.Close(']')
	}
	if config.Temperature != "" {
		w.Name("temperature").Raw([]byte(config.Temperature))
	}
	if stream {
		w.Name("stream").Bool(true)
	}
	w.Close('}')
	return w.Text()
}

// writeBlocks writes a message as blocks. The results of tools come first (decision M14).
func writeBlocks(w *jsonwire.Writer, m message.Message) {
	w.Open('{')
	w.Name("role").String(string(m.Role))
	w.Name("content").Open('[')
	for _, item := range m.Content {
		if response, ok := item.(message.ToolResponse); ok {
			writeResultBlocks(w, response)
		}
	}
	for _, item := range m.Content {
		writeBlock(w, item)
	}
	w.Close(']')
	w.Close('}')
}

func writeResultBlocks(w *jsonwire.Writer, response message.ToolResponse) {
	w.Raw([]byte(`{"type":"tool_result","tool_use_id":`))
	w.String(response.ID)
	w.Name("content").String(message.ResultText(response.Result))
	if response.Result.Error != nil {
		w.Name("is_error").Bool(true)
	}
	w.Close('}')
	for _, image := range message.ResultImages(response.Result) {
		writeBlock(w, image)
	}
}

func writeBlock(w *jsonwire.Writer, item message.Content) {
	switch c := item.(type) {
	case message.Text:
		w.Raw([]byte(`{"type":"text","text":`))
		w.String(c.Text)
	case message.Image:
		w.Raw([]byte(`{"type":"image","source":{"type":"base64","media_type":`))
		w.String(c.MIMEType)
		w.Name("data").String(c.Data)
		w.Close('}')
	case message.ToolRequest:
		w.Raw([]byte(`{"type":"tool_use","id":`))
		w.String(c.ID)
		w.Name("name").String(c.Call.Value.Name)
		w.Name("input").Raw(message.ObjectOrEmpty(c.Call.Value.Arguments))
	case message.Thinking:
		w.Raw([]byte(`{"type":"thinking","thinking":`))
		w.String(c.Thinking)
		w.Name("signature").String(c.Signature)
	case message.RedactedThinking:
		w.Raw([]byte(`{"type":"redacted_thinking","data":`))
		w.String(c.Data)
	default:
		return
	}
	w.Close('}')
}
