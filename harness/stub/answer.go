package stub

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An Answer is the response to a request: a message of a model, an HTTP response, another protocol, or none of them.
type Answer struct {
	After   time.Duration // delay before the head
	Status  int           // 0 means 200
	Header  transcript.Header
	Body    []byte   // used when Message is nil
	Error   *string  // the text of an error in the format of the kind, used when Message is nil
	Message *Message // message of a model
	// Callback redirects to the client of an authorization server.
	Callback *Callback
	End      End
	// Takeover is used instead of all others but After and Header.
	Takeover *Takeover
}

// A Message is a response of a model.
type Message struct {
	ID, Model string
	Stop      string // "" means the usual reason for these pieces
	Pieces    []Piece
	// Input and Output count tokens.
	Input, Output int
}

// A Piece is a part of a message. Exactly one of Text, Thinking, Raw and Tool is set.
type Piece struct {
	After          time.Duration // delay after the previous piece
	Text, Thinking *string
	Raw            *string // written without changes
	Tool           *Tool
}

// A Tool is a tool call.
type Tool struct {
	ID, Name  string
	Arguments []string // the text of its input, split into the pieces of a stream
}

// input returns the input as JSON. A text that is not JSON becomes a string.
func (t *Tool) input() json.RawMessage {
	if text := t.text(); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return plainjson.Encode(t.text())
}

// text returns the input in one piece.
func (t *Tool) text() string { return strings.Join(t.Arguments, "") }

// An End is the way in which a response ends.
type End string

const (
	Whole End = ""
	Cut   End = "cut"   // the connection ends
	Reset End = "reset" // the connection is reset
	Hang  End = "hang"  // the connection stays open, and nothing more comes
)

// onlyEnd reports whether the response has no content, not even a head.
func (a *Answer) onlyEnd() bool {
	return a.End != Whole && a.Message == nil && a.Callback == nil && a.Body == nil && a.Error == nil && a.Status == 0
}

// A reply is a response, ready to be written.
type reply struct {
	status int
	header transcript.Header
	frames []frame
	stream bool // has no length and is written frame by frame
}

// A frame is written in one go.
type frame struct {
	after time.Duration
	bytes []byte
}

// reply formats a response for the server's kind.
func (s *Server) reply(r *transcript.Request, a *Answer) reply {
	out := reply{status: cmp.Or(a.Status, 200)}
	f := formats[s.kind]
	var chat Chat
	if a.Message != nil {
		chat = ChatOf(r)
	}
	if a.Callback != nil {
		a = a.Callback.answer(r, a.Header)
		out.status = a.Status
	}
	switch {
	case a.Message != nil && f.isRaw(a.Message):
		out.stream = true
		out.header = transcript.Header{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}}
		if f.message != nil && chat.Stream {
			out.header = streamHeader()
		}
		out.frames = rawFrames(a.Message)
	case a.Message != nil && chat.Stream:
		out.stream, out.header = true, streamHeader()
		out.frames = f.stream(&chat, a.Message, a.End == Whole)
	case a.Message != nil:
		out.header = jsonHeader()
		out.frames = []frame{{pause(a.Message), f.message(a.Message)}}
	case a.Error != nil:
		out.header = jsonHeader()
		out.frames = []frame{{0, f.failure(out.status, *a.Error)}}
	default:
		out.frames = []frame{{0, a.Body}}
	}
	own := slices.DeleteFunc(out.header, func(f transcript.Field) bool { return a.Header.Has(f.Name) })
	out.header = append(append(transcript.Header{}, own...), a.Header...)
	return out
}

// pause returns the delay of a message that is sent in one piece.
func pause(m *Message) (all time.Duration) {
	for _, p := range m.Pieces {
		all += p.After
	}
	return all
}

func rawFrames(m *Message) []frame {
	var out []frame
	empty := ""
	for _, p := range m.Pieces {
		out = append(out, frame{p.After, []byte(*cmp.Or(p.Text, p.Raw, &empty))}) // HTTP has no other pieces
	}
	return out
}

func jsonHeader() transcript.Header {
	return transcript.Header{{Name: "Content-Type", Value: "application/json"}}
}

func streamHeader() transcript.Header {
	return transcript.Header{{Name: "Content-Type", Value: "text/event-stream"}, {Name: "Cache-Control", Value: "no-cache"}}
}

// stopReason returns why a message ends. By default, it depends on whether the message has tool calls.
func stopReason(m *Message, normal, calls string) *string {
	stop := cmp.Or(m.Stop, normal)
	if m.Stop == "" && slices.ContainsFunc(m.Pieces, func(p Piece) bool { return p.Tool != nil }) {
		stop = calls
	}
	return &stop
}

// errorType returns the type of an error with this status.
func errorType(status int, serverError string, types map[int]string) string {
	if status >= 500 {
		return cmp.Or(types[status], serverError)
	}
	return cmp.Or(types[status], "invalid_request_error")
}
