// Package chatstream writes the events of POST /reply (GA 4.6), and queues them for the stream.
package chatstream

import (
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Ping is sent when the engine has started, and every half second from then on (GA 7.4).
var Ping = sse.Data([]byte(`{"type":"Ping"}`))

// event begins an event of a type (GA 4.6).
func event(kind string) *jsonwire.Writer {
	w := jsonwire.NewWriter([]byte("data: "))
	w.Open('{')
	w.Name("type").String(kind)
	return w
}

// frame ends an event.
func frame(w *jsonwire.Writer) []byte {
	w.Close('}')
	return append(w.Text(), "\n\n"...)
}

// Message is the event of a message, with the numbers that the session has at that moment.
func Message(m message.Message, tokens modelconfig.Tokens) []byte {
	w := event("Message")
	w.Name("message")
	m.Write(w)
	writeTokens(w, tokens)
	return frame(w)
}

// Error is the event of a reply that failed. Clients see the text.
func Error(text string) []byte {
	w := event("Error")
	w.Name("error").String(text)
	return frame(w)
}

// Finish is the last event of a reply.
func Finish(tokens modelconfig.Tokens) []byte {
	w := event("Finish")
	w.Name("reason").String("stop")
	writeTokens(w, tokens)
	return frame(w)
}

// ModelChange is the event of who has answered: a model, and its mode, such as lead.
func ModelChange(model, mode string) []byte {
	w := event("ModelChange")
	w.Name("model").String(model)
	w.Name("mode").String(mode)
	return frame(w)
}

// Notification is the event of what an MCP server said while a tool ran.
func Notification(requestID, method string, params []byte) []byte {
	w := event("Notification")
	w.Name("request_id").String(requestID)
	w.Name("message").Open('{')
	w.Name("method").String(method)
	w.Name("params").Raw(params)
	w.Close('}')
	return frame(w)
}

// UpdateConversation is the event of a conversation that was replaced.
func UpdateConversation(conversation []message.Message) []byte {
	w := event("UpdateConversation")
	jsonwire.Array(w.Name("conversation"), conversation, message.Message.Write)
	return frame(w)
}

// writeTokens writes the numbers of a session's row, 0 where there is none.
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
