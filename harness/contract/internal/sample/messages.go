package sample

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Messaging returns a document whose GET /x opens a socket with this x-messages, indented by eight.
func Messaging(messages string) string {
	return API(`
  /x:
    get:
      responses: {'101': {description: Switching Protocols}}
      x-messages:
` + strings.Trim(messages, "\n"))
}

// Programming returns a document of a program with this x-messages, indented by two.
func Programming(messages string) string {
	return "openapi: 3.1.0\ninfo: {title: test, version: '1'}\nx-messages:\n" + strings.Trim(messages, "\n") + "\n"
}

// Socket is GET /x with these events of the socket that it opens.
func Socket(events ...transcript.Event) *transcript.Transcript {
	t := Response("GET", "/x", 101, nil, "")
	t.Steps[0].Exchanges[0].Stream = "s"
	t.Streams = []*transcript.Stream{{Name: "s", Step: "1", Wire: transcript.WireSocket, Operation: "GET /x", Events: events}}
	return t
}

// Program has these events of a program.
func Program(events ...transcript.Event) *transcript.Transcript {
	return &transcript.Transcript{
		Steps:   []transcript.Step{{ID: "1"}},
		Streams: []*transcript.Stream{{Name: "s", Step: "1", Wire: transcript.WireProgram, Operation: "program", Events: events}},
	}
}

// Received is what a socket or a program has sent.
func Received(item transcript.Item, data string) transcript.Event {
	return transcript.Event{Item: item, Data: data}
}

// Sent is what lockstep has sent.
func Sent(item transcript.Item, data string) transcript.Event {
	return transcript.Event{Item: item, Data: data, Sent: true}
}
