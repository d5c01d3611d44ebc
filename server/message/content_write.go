package message

import "github.com/lockstep-dev/lockstep/server/jsonwire"

// tagged begins an object with the tag that says what it is.
func tagged(w *jsonwire.Writer, tag, value string) {
	w.Open('{')
	w.Name(tag)
	w.String(value)
}

func member(w *jsonwire.Writer, name, value string) {
	w.Name(name)
	w.String(value)
}

// Write writes the item as JSON.
func (c Text) Write(w *jsonwire.Writer) {
	tagged(w, "type", "text")
	member(w, "text", c.Text)
	c.Annotations.write(w)
	w.MaybeRaw("_meta", c.Meta)
	w.Close('}')
}

// Write writes the item as JSON.
func (c Image) Write(w *jsonwire.Writer) {
	tagged(w, "type", "image")
	member(w, "data", c.Data)
	member(w, "mimeType", c.MIMEType)
	c.Annotations.write(w)
	w.MaybeRaw("_meta", c.Meta)
	w.Close('}')
}

// Write writes the item as JSON.
func (c ToolRequest) Write(w *jsonwire.Writer) {
	tagged(w, "type", "toolRequest")
	member(w, "id", c.ID)
	w.Name("toolCall")
	c.Call.write(w, ToolCall.Write)
	w.MaybeString("thoughtSignature", c.ThoughtSignature)
	w.Close('}')
}

// Write writes the item as JSON.
func (c ToolResponse) Write(w *jsonwire.Writer) {
	tagged(w, "type", "toolResponse")
	member(w, "id", c.ID)
	w.Name("toolResult")
	c.Result.write(w, writeToolContents)
	w.Close('}')
}

// Write writes the item as JSON.
func (c ToolConfirmationRequest) Write(w *jsonwire.Writer) {
	tagged(w, "type", "toolConfirmationRequest")
	member(w, "id", c.ID)
	member(w, "toolName", c.ToolName)
	w.Name("arguments")
	w.Raw(objectOrEmpty(c.Arguments))
	w.Name("prompt")
	w.StringOrNull(c.Prompt)
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
	member(w, "id", c.ID)
	w.Name("toolCall")
	c.Call.write(w, ToolCall.Write)
	w.Close('}')
}

// Write writes the item as JSON.
func (c Thinking) Write(w *jsonwire.Writer) {
	tagged(w, "type", "thinking")
	member(w, "thinking", c.Thinking)
	member(w, "signature", c.Signature)
	w.Close('}')
}

// Write writes the item as JSON.
func (c RedactedThinking) Write(w *jsonwire.Writer) {
	tagged(w, "type", "redactedThinking")
	member(w, "data", c.Data)
	w.Close('}')
}

// Write writes the item as JSON.
func (c SystemNotification) Write(w *jsonwire.Writer) {
	tagged(w, "type", "systemNotification")
	member(w, "notificationType", string(c.Type))
	member(w, "msg", c.Message)
	w.Close('}')
}

// objectOrEmpty writes an object that is required but was never given as an empty one.
func objectOrEmpty(object []byte) []byte {
	if object == nil {
		return []byte("{}")
	}
	return object
}
