package message_test

import (
	"encoding/json"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// messages draws random messages of all kinds, in the form in which they are read.
var messages = rapid.Custom(func(t *rapid.T) message.Message {
	return message.Message{
		ID:       texts.Draw(t, "id"),
		Role:     roles.Draw(t, "role"),
		Created:  rapid.Int64().Draw(t, "created"),
		Content:  rapid.SliceOfN(contents, 0, 4).Draw(t, "content"),
		Metadata: message.Metadata{UserVisible: rapid.Bool().Draw(t, "user"), AgentVisible: rapid.Bool().Draw(t, "agent")},
	}
})

var (
	texts = rapid.String()
	roles = rapid.SampledFrom([]message.Role{message.User, message.Assistant})
	maybe = rapid.Ptr(texts, true)

	free = rapid.SampledFrom([]string{
		`{}`, `{"z":1.0,"a":[12345678901234567890,null,"</é"]}`, `{"":{"\n":true},"x":-1e-7}`,
	})
	objects      = rapid.Map(free, func(text string) json.RawMessage { return json.RawMessage(text) })
	maybeObjects = rapid.OneOf(rapid.Just(json.RawMessage(nil)), objects)
	calls        = rapid.Custom(func(t *rapid.T) message.Result[message.ToolCall] {
		if rapid.Bool().Draw(t, "failed") {
			return message.Failure[message.ToolCall](texts.Draw(t, "error"))
		}
		return message.Success(message.ToolCall{Name: texts.Draw(t, "name"), Arguments: maybeObjects.Draw(t, "arguments")})
	})
	results = rapid.Custom(func(t *rapid.T) message.Result[[]message.ToolContent] {
		if rapid.Bool().Draw(t, "failed") {
			return message.Failure[[]message.ToolContent](texts.Draw(t, "error"))
		}
		return message.Success(rapid.SliceOfN(toolContents, 0, 3).Draw(t, "value"))
	})
)

var annotations = rapid.Custom(func(t *rapid.T) *message.Annotations {
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	a := &message.Annotations{Priority: rapid.SampledFrom([]json.Number{"", "0.50", "1", "1e-3"}).Draw(t, "priority")}
	if rapid.Bool().Draw(t, "audience") {
		a.Audience = rapid.SliceOfN(roles, 0, 2).Draw(t, "roles")
	}
	if rapid.Bool().Draw(t, "modified") {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.SampledFrom([]int64{0, 5e8, 1000, 1}).Draw(t, "ns")).UTC()
		a.LastModified = &at
	}
	return a
})

var contents = rapid.Custom(func(t *rapid.T) message.Content {
	text := func(name string) string { return texts.Draw(t, name) }
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		clean := message.Clean(text("text"))
		if message.Clean(clean) != clean {
			clean = "" // characters around a removed one may combine when the text is read again
		}
		return message.Text{Text: clean, Annotations: annotations.Draw(t, "annotations"), Meta: maybeObjects.Draw(t, "meta")}
	case 1:
		return message.Image{Data: text("data"), MIMEType: text("mime"), Annotations: annotations.Draw(t, "annotations"), Meta: maybeObjects.Draw(t, "meta")}
	case 2:
		return message.ToolRequest{ID: text("id"), Call: calls.Draw(t, "call"), ThoughtSignature: maybe.Draw(t, "signature")}
	case 3:
		return message.ToolResponse{ID: text("id"), Result: results.Draw(t, "result")}
	case 4:
		return message.ToolConfirmationRequest{ID: text("id"), ToolName: text("tool"), Arguments: objects.Draw(t, "arguments"), Prompt: maybe.Draw(t, "prompt")}
	case 5:
		return message.ActionRequired{Data: actions.Draw(t, "action")}
	case 6:
		return message.FrontendToolRequest{ID: text("id"), Call: calls.Draw(t, "call")}
	case 7:
		return message.Thinking{Thinking: text("thinking"), Signature: text("signature")}
	case 8:
		return message.RedactedThinking{Data: text("data")}
	}
	return message.SystemNotification{Type: rapid.SampledFrom([]message.NotificationType{message.ThinkingMessage, message.InlineMessage}).Draw(t, "type"), Message: text("message")}
})

var actions = rapid.Custom(func(t *rapid.T) message.Action {
	id := texts.Draw(t, "id")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return message.ToolConfirmation{ID: id, ToolName: texts.Draw(t, "tool"), Arguments: objects.Draw(t, "arguments"), Prompt: maybe.Draw(t, "prompt")}
	case 1:
		return message.Elicitation{ID: id, Message: texts.Draw(t, "message"), RequestedSchema: objects.Draw(t, "schema")}
	}
	return message.ElicitationResponse{ID: id, UserData: rapid.OneOf(objects, rapid.Just(json.RawMessage("null"))).Draw(t, "data")}
})

var toolContents = rapid.Custom(func(t *rapid.T) message.ToolContent {
	text := func(name string) string { return texts.Draw(t, name) }
	about := annotations.Draw(t, "annotations")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return message.ToolText{Text: text("text"), Meta: maybeObjects.Draw(t, "meta"), Annotations: about}
	case 1:
		return message.ToolImage{Data: text("data"), MIMEType: text("mime"), Meta: maybeObjects.Draw(t, "meta"), Annotations: about}
	case 2:
		body := text("body")
		resource := message.ToolResource{URI: text("uri"), MIMEType: maybe.Draw(t, "mime"), ResourceMeta: maybeObjects.Draw(t, "inner"), Meta: maybeObjects.Draw(t, "meta"), Annotations: about}
		if rapid.Bool().Draw(t, "blob") {
			resource.Blob = &body
		} else {
			resource.Text = &body
		}
		return resource
	case 3:
		return message.ToolAudio{Data: text("data"), MIMEType: text("mime"), Annotations: about}
	}
	link := message.ToolResourceLink{
		URI: text("uri"), Name: text("name"), Title: maybe.Draw(t, "title"), Description: maybe.Draw(t, "description"), MIMEType: maybe.Draw(t, "mime"),
		Size: rapid.Ptr(rapid.Int64Range(0, 1<<62), true).Draw(t, "size"), Annotations: about,
	}
	if rapid.Bool().Draw(t, "icons") {
		link.Icons = []extension.Icon{{Src: text("icon"), MIMEType: maybe.Draw(t, "icon's mime"), Sizes: []string{}}}
	}
	return link
})
