package message

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// tagged opens an object with the tag that says which variant it is.
func tagged(w *jsonwire.Writer, tag, value string) {
	w.Open('{')
	w.Name(tag).String(value)
}

// Write writes the item as JSON.
func (c Text) Write(w *jsonwire.Writer) {
	tagged(w, "type", "text")
	w.Name("text").String(c.Text)
	c.Annotations.write(w)
	w.MaybeRaw("_meta", c.Meta)
	w.Close('}')
}

// Write writes the item as JSON.
func (c Image) Write(w *jsonwire.Writer) {
	tagged(w, "type", "image")
	w.Name("data").String(c.Data)
	w.Name("mimeType").String(c.MIMEType)
	c.Annotations.write(w)
	w.MaybeRaw("_meta", c.Meta)
	w.Close('}')
}

// Write writes the item as JSON.
func (c ToolRequest) Write(w *jsonwire.Writer) {
	tagged(w, "type", "toolRequest")
	w.Name("id").String(c.ID)
	w.Name("toolCall")
	c.Call.write(w, ToolCall.Write)
	w.MaybeString("thoughtSignature", c.ThoughtSignature)
	w.Close('}')
}

// Write writes the item as JSON.
func (c ToolResponse) Write(w *jsonwire.Writer) {
	tagged(w, "type", "toolResponse")
	w.Name("id").String(c.ID)
	w.Name("toolResult")
	c.Result.write(w, func(contents []ToolContent, w *jsonwire.Writer) { jsonwire.Array(w, contents, ToolContent.Write) })
	w.Close('}')
}

// Write writes the item as JSON.
func (c ToolConfirmationRequest) Write(w *jsonwire.Writer) {
	tagged(w, "type", "toolConfirmationRequest")
	w.Name("id").String(c.ID)
	w.Name("toolName").String(c.ToolName)
	w.Name("arguments").Raw(ObjectOrEmpty(c.Arguments))
	w.Name("prompt").StringOrNull(c.Prompt)
	w.Close('}')
}

// Write writes the item as JSON.
func (c ActionRequired) Write(w *jsonwire.Writer) {
	tagged(w, "type", "actionRequired")
	w.Name("data")
	c.Data.Write(w)
	w.Close('}')
}

// Write writes the item as JSON.
func (c FrontendToolRequest) Write(w *jsonwire.Writer) {
	tagged(w, "type", "frontendToolRequest")
	w.Name("id").String(c.ID)
	w.Name("toolCall")
	c.Call.write(w, ToolCall.Write)
	w.Close('}')
}

// Write writes the item as JSON.
func (c Thinking) Write(w *jsonwire.Writer) {
	tagged(w, "type", "thinking")
	w.Name("thinking").String(c.Thinking)
	w.Name("signature").String(c.Signature)
	w.Close('}')
}

// Write writes the item as JSON.
func (c RedactedThinking) Write(w *jsonwire.Writer) {
	tagged(w, "type", "redactedThinking")
	w.Name("data").String(c.Data)
	w.Close('}')
}

// Write writes the item as JSON.
func (c SystemNotification) Write(w *jsonwire.Writer) {
	tagged(w, "type", "systemNotification")
	w.Name("notificationType").String(string(c.Type))
	w.Name("msg").String(c.Message)
	w.Close('}')
}

// ObjectOrEmpty returns the object, or an empty one if it is nil.
func ObjectOrEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}
