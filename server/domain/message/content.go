package message

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Content is one item of a message (GA 4.2): [Text], [Image], [ToolRequest], [ToolResponse], [ToolConfirmationRequest],
// [ActionRequired], [FrontendToolRequest], [Thinking], [RedactedThinking] or [SystemNotification]. All are used as values.
type Content interface {
	// Write writes the item as JSON.
	Write(w *jsonwire.Writer)
	isContent()
}

// The items of a message. A nil RawMessage or pointer is an absent field. Every RawMessage is canonical, as package
// decode and [jsonwire.Parse] return it.
type (
	// Text is a text of the user or the model.
	Text struct {
		Text        string
		Annotations *Annotations
		Meta        json.RawMessage // an object
	}
	// Image is a picture in Base64.
	Image struct {
		Data, MIMEType string
		Annotations    *Annotations
		Meta           json.RawMessage // an object
	}
	// ToolRequest is a tool call that the model requests.
	ToolRequest struct {
		ID               string
		Call             Result[ToolCall]
		ThoughtSignature *string
	}
	// ToolResponse is the result of a tool call.
	ToolResponse struct {
		ID     string
		Result Result[[]ToolContent]
	}
	// ToolConfirmationRequest is an old form of [ToolConfirmation]. It is accepted and kept, but never created.
	ToolConfirmationRequest ToolConfirmation
	// ActionRequired asks the user for something, or is the answer.
	ActionRequired struct{ Data Action }
	// FrontendToolRequest is a call of a tool that the client executes.
	FrontendToolRequest struct {
		ID   string
		Call Result[ToolCall]
	}
	// Thinking is the model's reasoning.
	Thinking struct{ Thinking, Signature string }
	// RedactedThinking is the model's reasoning in a form that only its provider can read.
	RedactedThinking struct{ Data string }
	// SystemNotification is a notice from the engine to the user.
	SystemNotification struct {
		Type    NotificationType
		Message string
	}
)

// A NotificationType says how a notice is displayed.
type NotificationType = api.SystemNotificationType

// The types of notices.
const (
	ThinkingMessage = api.SystemNotificationTypeThinkingMessage
	InlineMessage   = api.SystemNotificationTypeInlineMessage
)

func (Text) isContent()                    {}
func (Image) isContent()                   {}
func (ToolRequest) isContent()             {}
func (ToolResponse) isContent()            {}
func (ToolConfirmationRequest) isContent() {}
func (ActionRequired) isContent()          {}
func (FrontendToolRequest) isContent()     {}
func (Thinking) isContent()                {}
func (RedactedThinking) isContent()        {}
func (SystemNotification) isContent()      {}

// cleaned normalises the content that a client sends (GA 4.1). Texts of models are not changed, not even when they
// are loaded from the database.
func cleaned(contents []Content) []Content {
	for i, content := range contents {
		if text, ok := content.(Text); ok {
			text.Text = Clean(text.Text)
			contents[i] = text
		}
	}
	return contents
}

// Clean normalises a text (GA 4.1): to NFC, and without the invisible tag characters.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE007F {
			return -1
		}
		return r
	}, compose(text))
}

// dropped is an old type of items, which are removed (GA 4.1).
const dropped = "conversationCompacted"

// contentTypes are the types of items in the order of GA 4.2.
var contentTypes = []string{
	"text", "image", "toolRequest", "toolResponse", "toolConfirmationRequest", "actionRequired", "frontendToolRequest",
	"thinking", "redactedThinking", "systemNotification",
}

// DecodeContents reads the content of a message without normalisation, as for stored messages.
func DecodeContents(v decode.Value) ([]Content, error) {
	elements, err := v.Array()
	if err != nil {
		return nil, err
	}
	contents := []Content{}
	for element := range elements {
		content, err := decodeContent(element)
		if err != nil {
			return nil, err
		}
		if content != nil {
			contents = append(contents, content)
		}
	}
	return contents, nil
}

// decodeContent reads one item. It returns nil for an item to be removed.
func decodeContent(v decode.Value) (Content, error) {
	if decode.IsTagged(v, "type", dropped) {
		return nil, nil
	}
	kind, err := decode.Tag(v, "type", contentTypes...)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "text":
		o := v.Object("text", "annotations", "_meta")
		return Text{
			Text:        o.String("text"),
			Annotations: decode.MaybeField(o, "annotations", decodeAnnotations),
			Meta:        o.MaybeObject("_meta"),
		}, o.Err()
	case "image":
		o := v.Object("data", "mimeType", "annotations", "_meta")
		return Image{
			Data:        o.String("data"),
			MIMEType:    o.String("mimeType"),
			Annotations: decode.MaybeField(o, "annotations", decodeAnnotations),
			Meta:        o.MaybeObject("_meta"),
		}, o.Err()
	case "toolRequest":
		o := v.Object("id", "toolCall", "thoughtSignature")
		return ToolRequest{
			ID:               o.String("id"),
			Call:             decode.Field(o, "toolCall", decodeCall),
			ThoughtSignature: o.MaybeString("thoughtSignature"),
		}, o.Err()
	case "toolResponse":
		o := v.Object("id", "toolResult")
		return ToolResponse{ID: o.String("id"), Result: decode.Field(o, "toolResult", DecodeToolResult)}, o.Err()
	case "toolConfirmationRequest":
		confirmation, err := decodeConfirmation(v)
		return ToolConfirmationRequest(confirmation), err
	case "actionRequired":
		o := v.Object("data")
		return ActionRequired{decode.Field(o, "data", decodeAction)}, o.Err()
	case "frontendToolRequest":
		o := v.Object("id", "toolCall")
		return FrontendToolRequest{ID: o.String("id"), Call: decode.Field(o, "toolCall", decodeCall)}, o.Err()
	case "thinking":
		o := v.Object("thinking", "signature")
		return Thinking{Thinking: o.String("thinking"), Signature: o.String("signature")}, o.Err()
	case "redactedThinking":
		o := v.Object("data")
		return RedactedThinking{o.String("data")}, o.Err()
	default:
		o := v.Object("notificationType", "msg")
		return SystemNotification{
			Type:    NotificationType(o.OneOf("notificationType", string(ThinkingMessage), string(InlineMessage))),
			Message: o.String("msg"),
		}, o.Err()
	}
}
