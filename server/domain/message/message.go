// Package message defines the messages of a conversation in the goose-server family (GA 4.1 to 4.5). They are plain Go
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
	"encoding/json"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Role says who wrote a message.
type Role = api.Role

// The roles.
const (
	User      = api.RoleUser
	Assistant = api.RoleAssistant
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
type Metadata api.MessageMetadata

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
	return Message{
		ID:       decode.FieldOrZero(o, "id", decode.Value.Str),
		Role:     decode.Field(o, "role", decodeRole),
		Created:  o.Int("created"),
		Content:  cleaned(decode.Field(o, "content", DecodeContents)),
		Metadata: decode.Field(o, "metadata", DecodeMetadata),
	}, o.Err()
}

func decodeRole(v decode.Value) (Role, error) {
	role, err := decode.OneOf(string(User), string(Assistant))(v)
	return Role(role), err
}

// DecodeMetadata reads the metadata of a message. Both flags are required (GA 4.1).
func DecodeMetadata(v decode.Value) (Metadata, error) {
	o := v.Object("userVisible", "agentVisible")
	return Metadata{UserVisible: o.Bool("userVisible"), AgentVisible: o.Bool("agentVisible")}, o.Err()
}

// Write writes the message as JSON.
func (m Message) Write(w *jsonwire.Writer) { w.Value(m.API()) }

// API converts the message to its type in the contract.
func (m Message) API() api.Message {
	content := jsonwire.NewWriter(nil)
	WriteContents(content, m.Content)
	var id *string
	if m.ID != "" {
		id = &m.ID
	}
	return api.Message{ID: id, Role: m.Role, Created: m.Created, Content: []byte(content.Text()), Metadata: api.MessageMetadata(m.Metadata)}
}

// Conversation converts messages to their type in the contract.
func Conversation(messages []Message) api.Conversation {
	conversation := make(api.Conversation, len(messages))
	for i, m := range messages {
		conversation[i] = m.API()
	}
	return conversation
}

// Write writes the metadata as JSON.
func (m Metadata) Write(w *jsonwire.Writer) { w.Value(api.MessageMetadata(m)) }

func init() { jsonwire.Register(writeAPI) }

// writeAPI writes what encoding/json would write of the type.
func writeAPI(w *jsonwire.Writer, of *api.Message) {
	m := struct { // all fields, or the conversion does not compile
		ID       *string
		Role     Role
		Created  int64
		Content  json.RawMessage
		Metadata api.MessageMetadata
	}(*of)
	metadata := struct{ UserVisible, AgentVisible bool }(m.Metadata)
	w.Open('{')
	w.Name("id").StringOrNull(m.ID)
	w.Name("role").String(string(m.Role))
	w.Name("created").Int(m.Created)
	w.Name("content").Raw(m.Content)
	w.Name("metadata").Open('{')
	w.Name("userVisible").Bool(metadata.UserVisible)
	w.Name("agentVisible").Bool(metadata.AgentVisible)
	w.Close('}')
	w.Close('}')
}

// WriteContents writes the content of a message as a JSON array.
func WriteContents(w *jsonwire.Writer, contents []Content) {
	jsonwire.Array(w, contents, Content.Write)
}
