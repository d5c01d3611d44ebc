package llm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// chat is the format of OpenAI's chat completions (GA 18.8).
type chat struct {
	marks      func(model string) bool // whether to mark what the service may cache; nil is never (decision M75)
	transforms bool                    // whether the service may shorten what is too long for the model
}

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
	model := c.model(config)
	marked := c.marks != nil && c.marks(model)
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("model").String(model)
	writeChatMessages(w, system, r, contentForm{marked: marked})
	writeChatTools(w, r.Tools, marked)
	if c.transforms {
		w.Name("transforms").Raw([]byte(`["middle-out"]`))
	}
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

func writeChatTools(w *jsonwire.Writer, tools []Tool, marked bool) {
	if len(tools) == 0 {
		return
	}
	w.Name("tools").Open('[')
	for i, tool := range tools {
		w.Raw([]byte(`{"type":"function","function":{"name":`))
		w.String(tool.Name)
		w.Name("description").String(tool.Description)
		w.Name("parameters").Raw(tool.Schema)
		if marked && i == len(tools)-1 {
			writeMark(w)
		}
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}

// A contentForm says how the contents of messages are written.
type contentForm struct {
	plain  bool // always as a string (decision M77)
	marked bool // marked for the cache (decision M75)
}

// writeChatMessages writes the system prompt and the messages. The marks for the cache are on the prompt and on the last
// two messages of the user.
func writeChatMessages(w *jsonwire.Writer, system string, r Request, form contentForm) {
	w.Name("messages").Open('[')
	if r.System != "" {
		writeChatText(w, system, r.System, form.marked)
	}
	parts := make([][]chatPart, len(r.Messages))
	named := make([][]message.Image, len(r.Messages))
	if !r.TextsAlone {
		named = imagesNamed(r.Messages, namedImages)
	}
	left := 0
	for i, m := range r.Messages {
		if m.Role != message.Assistant {
			parts[i] = chatParts(m, named[i])
		}
		if len(parts[i]) > 0 {
			left++
		}
	}
	for i, m := range r.Messages {
		if m.Role == message.Assistant {
			writeChatAssistant(w, m, form.plain)
			continue
		}
		writeChatResults(w, m)
		if len(parts[i]) > 0 {
			writeChatUser(w, parts[i], contentForm{plain: form.plain, marked: form.marked && left <= 2})
			left--
		}
	}
	w.Close(']')
}

// writeMark writes the mark for the cache as a member.
func writeMark(w *jsonwire.Writer) { w.Name("cache_control").Raw([]byte(`{"type":"ephemeral"}`)) }

// writeChatResults writes the results of tools in a message. Each becomes a message of its own (decision M11).
func writeChatResults(w *jsonwire.Writer, m message.Message) {
	for _, item := range m.Content {
		if c, ok := item.(message.ToolResponse); ok {
			w.Open('{')
			w.Raw([]byte(`"role":"tool","tool_call_id":`))
			w.String(c.ID)
			w.Name("content").String(message.ResultText(c.Result))
			w.Close('}')
		}
	}
}

// A chatPart is a text or an image of a user's message.
type chatPart struct {
	text  string
	image *message.Image
}

// chatParts returns what a user says: first the images of tool results, last those that the texts name.
func chatParts(m message.Message, named []message.Image) (parts []chatPart) {
	images := func(list []message.Image) {
		for i := range list {
			parts = append(parts, chatPart{image: &list[i]})
		}
	}
	for _, item := range m.Content {
		if c, ok := item.(message.ToolResponse); ok {
			images(message.ResultImages(c.Result))
		}
	}
	for _, item := range m.Content {
		switch c := item.(type) {
		case message.Text:
			parts = append(parts, chatPart{text: c.Text})
		case message.Image:
			parts = append(parts, chatPart{image: &c})
		}
	}
	images(named)
	return parts
}

// writeChatUser writes a user's message: as a string if it has no images.
func writeChatUser(w *jsonwire.Writer, parts []chatPart, form contentForm) {
	var texts []string
	seen := false
	for _, part := range parts {
		if part.image != nil {
			seen, part.text = true, "[image]"
		}
		texts = append(texts, part.text)
	}
	if !seen || form.plain {
		writeChatText(w, "user", strings.Join(texts, "\n"), form.marked)
		return
	}
	w.Raw([]byte(`{"role":"user","content":[`))
	for _, part := range parts {
		if part.image != nil {
			writeChatImage(w, *part.image)
			continue
		}
		w.Raw([]byte(`{"type":"text","text":`))
		w.String(part.text)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}

func writeChatText(w *jsonwire.Writer, role, text string, marked bool) {
	w.Open('{')
	w.Name("role").String(role)
	w.Name("content")
	if marked {
		w.Raw([]byte(`[{"type":"text","text":`))
		w.String(text)
		writeMark(w)
		w.Close('}')
		w.Close(']')
	} else {
		w.String(text)
	}
	w.Close('}')
}

func writeChatImage(w *jsonwire.Writer, image message.Image) {
	w.Raw([]byte(`{"type":"image_url","image_url":{"url":`))
	w.String("data:" + image.MIMEType + ";base64," + image.Data)
	w.Close('}')
	w.Close('}')
}

// writeChatAssistant writes a message of the model. It leaves out a message without a text or a call, because
// providers reject it. In the plain form, each has a text.
func writeChatAssistant(w *jsonwire.Writer, m message.Message, plain bool) {
	if !slices.ContainsFunc(m.Content, isSaid) {
		return
	}
	w.Raw([]byte(`{"role":"assistant"`))
	if text, ok := m.PlainText(); ok || plain {
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
