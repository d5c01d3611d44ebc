package reply

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/sse"
)

// ping is sent at once when the engine has started, and every half second from then on (GA 7.4).
var ping = sse.Data([]byte(`{"type":"Ping"}`))

// event begins an event of a type (GA 4.6).
func event(kind string) *jsonwire.Writer {
	w := jsonwire.NewWriter([]byte("data: "))
	w.Open('{')
	w.Name("type")
	w.String(kind)
	return w
}

// frame ends an event.
func frame(w *jsonwire.Writer) []byte {
	w.Close('}')
	return append(w.Text(), "\n\n"...)
}

func messageEvent(m message.Message, tokens session.Tokens) []byte {
	w := event("Message")
	w.Name("message")
	m.Write(w)
	writeTokens(w, tokens)
	return frame(w)
}

func errorEvent(text string) []byte {
	w := event("Error")
	w.Name("error")
	w.String(text)
	return frame(w)
}

func finishEvent(tokens session.Tokens) []byte {
	w := event("Finish")
	w.Name("reason")
	w.String("stop")
	writeTokens(w, tokens)
	return frame(w)
}

func modelEvent(model, mode string) []byte {
	w := event("ModelChange")
	w.Name("model")
	w.String(model)
	w.Name("mode")
	w.String(mode)
	return frame(w)
}

func notificationEvent(requestID string, n Notification) []byte {
	w := event("Notification")
	w.Name("request_id")
	w.String(requestID)
	w.Name("message")
	w.Open('{')
	w.Name("method")
	w.String(n.Method)
	w.Name("params")
	w.Raw(n.Params)
	w.Close('}')
	return frame(w)
}

func conversationEvent(conversation []message.Message) []byte {
	w := event("UpdateConversation")
	w.Name("conversation")
	w.Open('[')
	for _, m := range conversation {
		m.Write(w)
	}
	w.Close(']')
	return frame(w)
}

// writeTokens writes the numbers of a session's row, 0 where there is none.
func writeTokens(w *jsonwire.Writer, t session.Tokens) {
	w.Name("token_state")
	w.Open('{')
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

// A Notification is one of an MCP server, while one of its tools runs.
type Notification struct {
	Method string          // notifications/message or notifications/progress
	Params json.RawMessage // an object
}
