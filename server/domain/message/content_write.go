package message

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func (c Text) Write(w *jsonwire.Writer) {
	w.Value(api.TextContent{Type: api.TextContentTypeText, Text: c.Text, Annotations: c.Annotations, Meta: c.Meta})
}

func (c Image) Write(w *jsonwire.Writer) {
	w.Value(api.ImageContent{
		Type: api.ImageContentTypeImage, Data: c.Data, MIMEType: c.MIMEType, Annotations: c.Annotations, Meta: c.Meta,
	})
}

func (c ToolRequest) Write(w *jsonwire.Writer) {
	w.Value(api.ToolRequest{
		Type: api.ToolRequestTypeToolRequest, ID: c.ID, ToolCall: callJSON(c.Call), ThoughtSignature: c.ThoughtSignature,
	})
}

func (c ToolResponse) Write(w *jsonwire.Writer) {
	w.Value(api.ToolResponse{Type: api.ToolResponseTypeToolResponse, ID: c.ID, ToolResult: resultJSON(c.Result)})
}

func (c ToolConfirmationRequest) Write(w *jsonwire.Writer) {
	w.Value(api.ToolConfirmationRequest{
		Type: api.ToolConfirmationRequestTypeToolConfirmationRequest, ID: c.ID, ToolName: c.ToolName,
		Arguments: ObjectOrEmpty(c.Arguments), Prompt: c.Prompt,
	})
}

func (c ActionRequired) Write(w *jsonwire.Writer) {
	data := jsonwire.Of(c.Data)
	w.Value(api.ActionRequired{Type: api.ActionRequiredTypeActionRequired, Data: api.ActionRequiredData(data)})
}

func (c FrontendToolRequest) Write(w *jsonwire.Writer) {
	w.Value(api.FrontendToolRequest{
		Type: api.FrontendToolRequestTypeFrontendToolRequest, ID: c.ID, ToolCall: callJSON(c.Call),
	})
}

func (c Thinking) Write(w *jsonwire.Writer) {
	w.Value(api.ThinkingContent{Type: api.ThinkingContentTypeThinking, Thinking: c.Thinking, Signature: c.Signature})
}

func (c RedactedThinking) Write(w *jsonwire.Writer) {
	w.Value(api.RedactedThinkingContent{Type: api.RedactedThinkingContentTypeRedactedThinking, Data: c.Data})
}

func (c SystemNotification) Write(w *jsonwire.Writer) {
	w.Value(api.SystemNotificationContent{
		Type: api.SystemNotificationContentTypeSystemNotification, NotificationType: c.Type, Msg: c.Message,
	})
}

// ObjectOrEmpty returns the object, or an empty one if it is nil.
func ObjectOrEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}
