// Package chatstream encodes the events of POST /reply (GA 4.6), and queues them for the stream.
package chatstream

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Ping is sent when the engine starts, and then every half second (GA 7.4).
var Ping = frame(api.ReplyPingEvent{Type: api.ReplyPingEventTypePing})

// frame returns the bytes of an event.
func frame(event any) []byte { return sse.Data(jsonwire.Marshal(event)) }

// Message returns the event for a message, with the session's current token counts.
func Message(m message.Message, tokens modelconfig.Tokens) []byte {
	return frame(api.ReplyMessageEvent{Type: api.ReplyMessageEventTypeMessage, Message: m.API(), TokenState: stateOf(tokens)})
}

// Error returns the event of a failed reply. Clients see the text.
func Error(text string) []byte {
	return frame(api.ReplyErrorEvent{Type: api.ReplyErrorEventTypeError, Error: text})
}

// Finish returns the last event of a reply.
func Finish(tokens modelconfig.Tokens) []byte {
	return frame(api.ReplyFinishEvent{
		Type: api.ReplyFinishEventTypeFinish, Reason: api.ReplyFinishEventReasonStop, TokenState: stateOf(tokens),
	})
}

// ModelChange returns the event that says which model has answered, in which mode, such as lead.
func ModelChange(model, mode string) []byte {
	return frame(api.ReplyModelChangeEvent{
		Type: api.ReplyModelChangeEventTypeModelChange, Model: model, Mode: api.ReplyModelChangeEventMode(mode),
	})
}

// Notification returns the event for a notification of an MCP server while a tool runs.
func Notification(requestID, method string, params []byte) []byte {
	said := jsonwire.Object([]string{"method", "params"}, []jsonwire.Text{jsonwire.Marshal(method), params})
	return frame(api.ReplyNotificationEvent{
		Type: api.ReplyNotificationEventTypeNotification, RequestID: requestID, Message: json.RawMessage(said),
	})
}

// UpdateConversation returns the event that replaces the conversation.
func UpdateConversation(conversation []message.Message) []byte {
	return frame(api.ReplyUpdateConversationEvent{
		Type: api.ReplyUpdateConversationEventTypeUpdateConversation, Conversation: message.Conversation(conversation),
	})
}

// stateOf returns the session's token counts, with 0 for missing ones.
func stateOf(t modelconfig.Tokens) api.TokenState {
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	return api.TokenState{
		InputTokens:             number(t.Input),
		OutputTokens:            number(t.Output),
		TotalTokens:             number(t.Total),
		AccumulatedInputTokens:  number(t.AccumulatedInput),
		AccumulatedOutputTokens: number(t.AccumulatedOutput),
		AccumulatedTotalTokens:  number(t.AccumulatedTotal),
	}
}
