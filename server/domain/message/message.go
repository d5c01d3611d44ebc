// Package message has the messages of a conversation in the goose-server family (GA 4.1 to 4.5). They are plain Go
// values, and each has exactly one form in JSON.
//
// Free-form parts, such as the arguments of a tool, stay JSON with the sender's key order and digits. Everything else is
// a Go value, so that the engine works on types.
//
//   - [Decode] reads a message, and reports where it is wrong.
//   - A [Content] is one of ten types, all in content.go.
//   - A [ToolContent] is an item of a tool's result.
package message

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Role says who wrote a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one message of a conversation.
type Message struct {
	ID       string // empty is null
	Role     Role
	Created  int64 // seconds since 1970
	Content  []Content
	Metadata Metadata
}

// Metadata says who may see a message.
type Metadata struct{ UserVisible, AgentVisible bool }

// Visible is the metadata of a message that both user and agent see.
var Visible = Metadata{UserVisible: true, AgentVisible: true}

// New returns a message that was created now, is visible to both, and has no ID.
func New(role Role, content ...Content) Message {
	return Message{Role: role, Created: time.Now().Unix(), Content: content, Metadata: Visible}
}

// PlainText returns the text items joined by line feeds, and false if there are none.
func (m Message) PlainText() (string, bool) {
	var texts []string
	for _, content := range m.Content {
		if text, ok := content.(Text); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n"), texts != nil
}

// Decode reads a message of a client, and normalises its texts (GA 4.1). The error is a [*decode.ShapeError].
func Decode(v decode.Value) (Message, error) {
	o := v.Object("id", "role", "created", "content", "metadata")
	id := o.MaybeString("id")
	m := Message{
		Role:     Role(o.OneOf("role", string(User), string(Assistant))),
		Created:  o.Int("created"),
		Content:  cleaned(decode.Field(o, "content", DecodeContents)),
		Metadata: decode.Field(o, "metadata", DecodeMetadata),
	}
	if id != nil {
		m.ID = *id
	}
	return m, o.Err()
}

// DecodeMetadata reads the metadata of a message. Both flags are required (GA 4.1).
func DecodeMetadata(v decode.Value) (Metadata, error) {
	o := v.Object("userVisible", "agentVisible")
	return Metadata{UserVisible: o.Bool("userVisible"), AgentVisible: o.Bool("agentVisible")}, o.Err()
}

// Write writes the message as JSON.
func (m Message) Write(w *jsonwire.Writer) {
	m.WriteWith(w, func(w *jsonwire.Writer) { WriteContents(w, m.Content) })
}

// WriteWith writes the message as JSON, with a function that writes the content.
func (m Message) WriteWith(w *jsonwire.Writer, content func(w *jsonwire.Writer)) {
	w.Open('{')
	w.Name("id")
	if m.ID == "" {
		w.Null()
	} else {
		w.String(m.ID)
	}
	w.Name("role").String(string(m.Role))
	w.Name("created").Int(m.Created)
	w.Name("content")
	content(w)
	w.Name("metadata")
	m.Metadata.Write(w)
	w.Close('}')
}

// Write writes the metadata as JSON.
func (m Metadata) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("userVisible").Bool(m.UserVisible)
	w.Name("agentVisible").Bool(m.AgentVisible)
	w.Close('}')
}

// WriteContents writes the content of a message as a JSON array.
func WriteContents(w *jsonwire.Writer, contents []Content) {
	jsonwire.Array(w, contents, Content.Write)
}
