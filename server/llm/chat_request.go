package llm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// chat is the format of OpenAI's chat completions (GA 18.8).
type chat struct{}

// reasoning matches the models that reason before they answer (decision M8).
var reasoning = regexp.MustCompile(`^(?:o[0-9]|gpt-5)`)

// model returns the name of a model. For a reasoning model, it removes the suffix for the effort (decision M8).
func (chat) model(config ModelConfig) string {
	if !reasoning.MatchString(config.ModelName) {
		return config.ModelName
	}
	model, _ := effortOf(config.ModelName)
	return model
}

// body returns the body of a request (decisions M7, M8).
func (c chat) body(config ModelConfig, r Request, stream bool) jsonwire.Text {
	reasons := reasoning.MatchString(config.ModelName)
	_, effort := effortOf(config.ModelName)
	system, maxTokens := "system", "max_tokens"
	if reasons {
		system, maxTokens = "developer", "max_completion_tokens"
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("model").String(c.model(config))
	w.Name("messages").Open('[')
	if r.System != "" {
		writeChatText(w, system, r.System)
	}
	named := make([][]message.Image, len(r.Messages))
	if !r.TextsAlone {
		named = imagesNamed(r.Messages, namedImages)
	}
	for i, m := range r.Messages {
		writeChatMessage(w, m, named[i])
	}
	w.Close(']')
	writeChatTools(w, r.Tools)
	if reasons {
		w.Name("reasoning_effort").String(effort)
	} else if config.Temperature != "" {
		w.Name("temperature").Raw([]byte(config.Temperature))
	}
	if config.MaxTokens != nil {
		w.Name(maxTokens).Int(*config.MaxTokens)
	}
	if stream {
		w.Name("stream").Bool(true)
		w.Name("stream_options").Raw([]byte(`{"include_usage":true}`))
	}
	w.Close('}')
	return w.Text()
}

// effortOf splits the effort from the name of a model.
func effortOf(name string) (model, effort string) {
	for _, effort := range []string{"low", "medium", "high"} {
		if model, ok := strings.CutSuffix(name, "-"+effort); ok {
			return model, effort
		}
	}
	return name, "medium"
}

func writeChatTools(w *jsonwire.Writer, tools []Tool) {
	if len(tools) == 0 {
		return
	}
	w.Name("tools").Open('[')
	for _, tool := range tools {
		w.Raw([]byte(`{"type":"function","function":{"name":`))
		w.String(tool.Name)
		w.Name("description").String(tool.Description)
		w.Name("parameters").Raw(tool.Schema)
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}

// writeChatMessage writes a message with the images that its texts name. Each result of a tool becomes a message of
// its own (decision M11).
func writeChatMessage(w *jsonwire.Writer, m message.Message, named []message.Image) {
	if m.Role == message.Assistant {
		writeChatAssistant(w, m)
		return
	}
	var texts []string
	var seen []message.Image
	for _, item := range m.Content {
		switch c := item.(type) {
		case message.ToolResponse:
			w.Open('{')
			w.Raw([]byte(`"role":"tool","tool_call_id":`))
			w.String(c.ID)
			w.Name("content").String(message.ResultText(c.Result))
			w.Close('}')
			seen = append(seen, message.ResultImages(c.Result)...)
		case message.Text:
			texts = append(texts, c.Text)
		}
	}
	if len(seen) > 0 || len(named) > 0 || hasImage(m) {
		writeChatParts(w, m, seen, named)
	} else if len(texts) > 0 {
		writeChatText(w, "user", strings.Join(texts, "\n"))
	}
}

func hasImage(m message.Message) bool {
	for _, item := range m.Content {
		if _, ok := item.(message.Image); ok {
			return true
		}
	}
	return false
}

func writeChatText(w *jsonwire.Writer, role, text string) {
	w.Open('{')
	w.Name("role").String(role)
	w.Name("content").String(text)
	w.Close('}')
}

// writeChatParts writes a user message with images: first those of tool results, last those that its texts name.
func writeChatParts(w *jsonwire.Writer, m message.Message, first, last []message.Image) {
	w.Raw([]byte(`{"role":"user","content":[`))
	for _, image := range first {
		writeChatImage(w, image)
	}
	for _, item := range m.Content {
		switch c := item.(type) {
		case message.Text:
			w.Raw([]byte(`{"type":"text","text":`))
			w.String(c.Text)
			w.Close('}')
		case message.Image:
			writeChatImage(w, c)
		}
	}
	for _, image := range last {
		writeChatImage(w, image)
	}
	w.Close(']')
	w.Close('}')
}

func writeChatImage(w *jsonwire.Writer, image message.Image) {
	w.Raw([]byte(`{"type":"image_url","image_url":{"url":`))
	w.String("data:" + image.MIMEType + ";base64," + image.Data)
	w.Close('}')
	w.Close('}')
}

// writeChatAssistant writes a message of the model. It leaves out a message without a text or a call, because
// providers reject it.
func writeChatAssistant(w *jsonwire.Writer, m message.Message) {
	if !slices.ContainsFunc(m.Content, isSaid) {
		return
	}
	w.Raw([]byte(`{"role":"assistant"`))
	if text, ok := m.PlainText(); ok {
		w.Name("content").String(text)
	}
	open := false
	for _, item := range m.Content {
		request, ok := item.(message.ToolRequest)
		if !ok {
			continue
		}
		if !open {
			w.Name("tool_calls").Open('[')
			open = true
		}
		writeChatCall(w, request)
	}
	if open {
		w.Close(']')
	}
	w.Close('}')
}

func isSaid(item message.Content) bool {
	switch item.(type) {
	case message.Text, message.ToolRequest:
		return true
	}
	return false
}

func writeChatCall(w *jsonwire.Writer, request message.ToolRequest) {
	w.Open('{')
	w.Name("id").String(request.ID)
	w.Raw([]byte(`"type":"function","function":{"name":`))
	w.String(request.Call.Value.Name)
	w.Name("arguments").String(string(message.ObjectOrEmpty(request.Call.Value.Arguments)))
	w.Close('}')
	w.Close('}')
}
