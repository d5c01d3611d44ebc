// Package chatstream encodes the events of POST /reply (GA 4.6), and queues them for the stream.
package chatstream

import (
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Ping is sent when the engine starts, and then every half second (GA 7.4).
var Ping = sse.Data([]byte(`{"type":"Ping"}`))

// event starts an event of the given type (GA 4.6).
func event(kind string) *jsonwire.Writer {
	w := jsonwire.NewWriter([]byte("data: "))
	w.Open('{')
	w.Name("type").String(kind)
	return w
}

// frame completes an event.
func frame(w *jsonwire.Writer) []byte {
	w.Close('}')
	return append(w.Text(), "\n\n"...)
}

// Message returns the event for a message, with the session's current token counts.
func Message(m message.Message, tokens modelconfig.Tokens) []byte {
	w := event("Message")
	w.Name("message")
	m.Write(w)
	writeTokens(w, tokens)
	return frame(w)
}

// Error returns the event of a failed reply. Clients see the text.
func Error(text string) []byte {
	w := event("Error")
	w.Name("error").String(text)
	return frame(w)
}

// Finish returns the last event of a reply.
func Finish(tokens modelconfig.Tokens) []byte {
	w := event("Finish")
	w.Name("reason").String("stop")
	writeTokens(w, tokens)
	return frame(w)
}

// ModelChange returns the event that says which model has answered, in which mode, such as lead.
func ModelChange(model, mode string) []byte {
	w := event("ModelChange")
	w.Name("model").String(model)
	w.Name("mode").String(mode)
	return frame(w)
}

// Notification returns the event for a notification of an MCP server while a tool runs.
func Notification(requestID, method string, params []byte) []byte {
	w := event("Notification")
	w.Name("request_id").String(requestID)
	w.Name("message").Open('{')
	w.Name("method").String(method)
	w.Name("params").Raw(params)
	w.Close('}')
	return frame(w)
}

// UpdateConversation returns the event that replaces the conversation.
func UpdateConversation(conversation []message.Message) []byte {
	w := event("UpdateConversation")
	jsonwire.Array(w.Name("conversation"), conversation, message.Message.Write)
	return frame(w)
}

// writeTokens writes the session's token counts, with 0 for missing ones.
func writeTokens(w *jsonwire.Writer, t modelconfig.Tokens) {
	w.Name("token_state").Open('{')
	for _, member := range []struct {
		name  string
		value *int64
	}{
		{"inputTokens", t.Input},
		{"outputTokens", t.Output},
		{"totalTokens", t.Total},
		{"accumulatedInputTokens", t.AccumulatedInput},
		{"accumulatedOutputTokens", t.AccumulatedOutput},
		{"accumulatedTotalTokens", t.AccumulatedTotal},
	} {
		w.Name(member.name)
		if member.value == nil {
			w.Int(0)
		} else {
			w.Int(*member.value)
		}
	}
	w.Close('}')
}
