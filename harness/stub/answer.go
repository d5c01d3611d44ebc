package stub

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An Answer is what a request gets: a message of a model, an answer of HTTP as it is, or neither.
type Answer struct {
	After   time.Duration // before its head
	Status  int           // 0: 200
	Header  transcript.Header
	Body    []byte   // an answer as it is, when Message is nil
	Error   *string  // a message, in a body as the kind writes errors, when Message is nil
	Message *Message // of a model
	End     End
}

// A Message is what a model says.
type Message struct {
	ID, Model string
	Stop      string // "": what fits the pieces
	Pieces    []Piece
	// Input and Output count tokens.
	Input, Output int
}

// A Piece is a part of a message: one of its kinds.
type Piece struct {
	After          time.Duration // since the piece before it
	Text, Thinking *string
	Raw            *string // bytes as they are
	Tool           *Tool
}

// A Tool is a call of a tool.
type Tool struct {
	ID, Name  string
	Arguments []string // the text of its input, in the pieces in which it is streamed
}

// input is the input as JSON; a text that is none is one as a string.
func (t *Tool) input() json.RawMessage {
	if text := t.text(); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return encode(t.text())
}

// text is the input in one piece.
func (t *Tool) text() string {
	all := ""
	for _, a := range t.Arguments {
		all += a
	}
	return all
}

// End is the way in which an answer ends.
type End string

// The ways in which an answer ends.
const (
	Whole End = ""
	Cut   End = "cut"   // the connection ends
	Reset End = "reset" // the connection is reset
	Hang  End = "hang"  // nothing more comes
)

// bare reports whether there is nothing but an end: not even a head.
func (a *Answer) bare() bool {
	return a.End != Whole && a.Message == nil && a.Body == nil && a.Error == nil && a.Status == 0
}

// A reply is an answer as it goes on the wire.
type reply struct {
	status int
	header transcript.Header
	frames []frame
	stream bool // without a length, frame by frame
}

// A frame is what is written at once.
type frame struct {
	after time.Duration
	bytes []byte
}

// reply writes an answer down as the kind has it.
func (s *Server) reply(r *transcript.Request, a *Answer) reply {
	out := reply{status: a.Status}
	if out.status == 0 {
		out.status = 200
	}
	w := wires[s.kind]
	switch {
	case a.Message != nil && w.raw(a.Message):
		out.stream = true
		out.header = transcript.Header{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}}
		if w.message != nil && asksForStream(r) {
			out.header = streamHeader()
		}
		out.frames = rawFrames(a.Message)
	case a.Message != nil && asksForStream(r):
		out.stream, out.header = true, streamHeader()
		out.frames = w.stream(r, a.Message, a.End == Whole)
	case a.Message != nil:
		out.header = jsonHeader()
		out.frames = []frame{{pause(a.Message), w.message(a.Message)}}
	case a.Error != nil:
		out.header = jsonHeader()
		out.frames = []frame{{0, w.failure(out.status, *a.Error)}}
	default:
		out.frames = []frame{{0, a.Body}}
	}
	out.header = over(out.header, a.Header)
	return out
}

// pause is how long a message lets wait that comes in one piece.
func pause(m *Message) (all time.Duration) {
	for _, p := range m.Pieces {
		all += p.After
	}
	return all
}

func rawFrames(m *Message) []frame {
	var out []frame
	for _, p := range m.Pieces {
		text := ""
		for _, t := range [...]*string{p.Raw, p.Text} { // a server that is no model's has no other texts
			if t != nil {
				text = *t
			}
		}
		out = append(out, frame{p.After, []byte(text)})
	}
	return out
}

func jsonHeader() transcript.Header {
	return transcript.Header{{Name: "Content-Type", Value: "application/json"}}
}

func streamHeader() transcript.Header {
	return transcript.Header{{Name: "Content-Type", Value: "text/event-stream"}, {Name: "Cache-Control", Value: "no-cache"}}
}

// over returns header fields with others in the place of those of the same name.
func over(own, given transcript.Header) transcript.Header {
	out := transcript.Header{}
	for _, f := range own {
		if !given.Has(f.Name) {
			out = append(out, f)
		}
	}
	return append(out, given...)
}
