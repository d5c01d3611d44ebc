package message

import (
	"encoding/json"
	"strings"

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

// The items of a message. A nil RawMessage or pointer is a field that is absent, and every RawMessage is canonical, as
// package decode and [jsonwire.Parse] make it.
type (
	// Text is what the user or the model said.
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
	// ToolRequest is a call that the model wants.
	ToolRequest struct {
		ID               string
		Call             Result[ToolCall]
		ThoughtSignature *string
	}
	// ToolResponse is what came of a call.
	ToolResponse struct {
		ID     string
		Result Result[[]ToolContent]
	}
	// ToolConfirmationRequest is an old form of [ToolConfirmation]: accepted and kept, never made.
	ToolConfirmationRequest struct {
		ID, ToolName string
		Arguments    json.RawMessage // an object
		Prompt       *string
	}
	// ActionRequired asks the user for something.
	ActionRequired struct{ Data Action }
	// FrontendToolRequest is a call of a tool that the client executes.
	FrontendToolRequest struct {
		ID   string
		Call Result[ToolCall]
	}
	// Thinking is what the model thought.
	Thinking struct{ Thinking, Signature string }
	// RedactedThinking is what the model thought, in a form that only its service can read.
	RedactedThinking struct{ Data string }
	// SystemNotification is a notice of the engine to the user.
	SystemNotification struct {
		Type    NotificationType
		Message string
	}
)

// A NotificationType says how a notice is shown.
type NotificationType string

// The types of notices.
const (
	ThinkingMessage NotificationType = "thinkingMessage"
	InlineMessage   NotificationType = "inlineMessage"
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

// cleaned returns the content as it is taken from a client (GA 4.1). The texts of models stay as they came, also when they
// are read back from where they are kept.
func cleaned(contents []Content) []Content {
	for i, content := range contents {
		if text, ok := content.(Text); ok {
			text.Text = Clean(text.Text)
			contents[i] = text
		}
	}
	return contents
}

// Clean is the normalisation of a text (GA 4.1): NFC, and then without the invisible tag characters.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0000 && r <= 0xE007F {
			return -1
		}
		return r
	}, compose(text))
}

// dropped is a type of an old format; items of it vanish (GA 4.1).
const dropped = "conversationCompacted"

// contentTypes are the types of items in the order of GA 4.2.
var contentTypes = []string{
	"text", "image", "toolRequest", "toolResponse", "toolConfirmationRequest", "actionRequired", "frontendToolRequest",
	"thinking", "redactedThinking", "systemNotification",
}

// DecodeContents reads the content of a message as it is, which is how a stored one is read.
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

// decodeContent reads one item; it is nil if it is dropped.
func decodeContent(v decode.Value) (Content, error) {
	if v.IsTagged("type", dropped) {
		return nil, nil
	}
	kind, err := v.Tag("type", contentTypes...)
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
		o := v.Object("id", "toolName", "arguments", "prompt")
		return ToolConfirmationRequest{
			ID:        o.String("id"),
			ToolName:  o.String("toolName"),
			Arguments: o.AnyObject("arguments"),
			Prompt:    o.MaybeString("prompt"),
		}, o.Err()
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
