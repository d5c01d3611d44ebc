// Package session defines a session as plain data: a conversation with everything that belongs to it (GA 4.7). Package
// store stores sessions; package sessions handles the requests about them.
package session

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Type says what a session is for.
type Type = api.SessionType

// The types of sessions. Only those of users and schedules are listed.
const (
	User      = api.SessionTypeUser
	Scheduled = api.SessionTypeScheduled
	SubAgent  = api.SessionTypeSubAgent
	Hidden    = api.SessionTypeHidden
	Terminal  = api.SessionTypeTerminal
)

// A Session is one session. A nil field is null.
type Session struct {
	ID, WorkingDir, Name string
	UserSetName          bool // the user chose the name, so automatic naming stops
	Type                 Type
	CreatedAt, UpdatedAt time.Time
	ExtensionData        json.RawMessage // an object with keys such as todo.v0
	Tokens               modelconfig.Tokens
	ScheduleID           *string
	Recipe               *recipe.Recipe
	UserRecipeValues     jsonwire.Pairs
	Conversation         []message.Message // nil if not loaded
	MessageCount         int64
	ProviderName         *string
	ModelConfig          *modelconfig.Config
}

// Decode reads an exported session. The name may have its old key, description.
func Decode(v decode.Value) (Session, error) {
	o := v.Object("id", "working_dir", "name", "description", "user_set_name", "session_type", "created_at", "updated_at", "extension_data",
		"total_tokens", "input_tokens", "output_tokens",
		"accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens",
		"schedule_id", "recipe", "user_recipe_values", "conversation", "message_count", "provider_name", "model_config")
	s := Session{ID: o.String("id"), WorkingDir: o.String("working_dir"), Name: decodeName(o)}
	s.UserSetName = decode.FieldOr(o, "user_set_name", false, decode.Value.Bool)
	s.Type = decode.FieldOr(o, "session_type", User, decodeType)
	s.CreatedAt = decode.Field(o, "created_at", decode.Time)
	s.UpdatedAt = decode.Field(o, "updated_at", decode.Time)
	s.ExtensionData = o.AnyObject("extension_data")
	s.Tokens = modelconfig.Tokens{
		Total: o.MaybeInt32("total_tokens"), Input: o.MaybeInt32("input_tokens"), Output: o.MaybeInt32("output_tokens"),
		AccumulatedTotal:  o.MaybeInt32("accumulated_total_tokens"),
		AccumulatedInput:  o.MaybeInt32("accumulated_input_tokens"),
		AccumulatedOutput: o.MaybeInt32("accumulated_output_tokens"),
	}
	s.ScheduleID = o.MaybeString("schedule_id")
	s.Recipe = decode.MaybeField(o, "recipe", recipe.Decode)
	s.UserRecipeValues = decode.FieldOrZero(o, "user_recipe_values", decode.Pairs)
	s.Conversation = decode.MaybeList(o, "conversation", message.Decode)
	s.MessageCount = decode.Field(o, "message_count", decode.Natural)
	s.ProviderName = o.MaybeString("provider_name")
	s.ModelConfig = decode.MaybeField(o, "model_config", modelconfig.Decode)
	return s, o.Err()
}

func decodeName(o *decode.Object) string {
	old := o.Get("description")
	if !old.Exists() {
		return o.String("name")
	}
	if o.Get("name").Exists() {
		o.Check(old.Fail("duplicate field `name`"))
	}
	return o.String("description")
}

func decodeType(v decode.Value) (Type, error) {
	kind, err := decode.OneOf(string(User), string(Scheduled), string(SubAgent), string(Hidden), string(Terminal))(v)
	return Type(kind), err
}

// Write writes the session as JSON with all keys, in order.
func (s Session) Write(w *jsonwire.Writer) { w.Value(s.API()) }

// API converts the session to its type in the contract.
func (s Session) API() api.Session {
	if s.Conversation == nil {
		return s.APIWith(nil)
	}
	return s.APIWith(new(message.Conversation(s.Conversation)))
}

// APIWith is like API, with another conversation.
func (s Session) APIWith(conversation *api.Conversation) api.Session {
	return api.Session{
		ID: s.ID, WorkingDir: s.WorkingDir, Name: s.Name,
		UserSetName: s.UserSetName, SessionType: s.Type,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		ExtensionData: s.ExtensionData,
		TotalTokens:   s.Tokens.Total, InputTokens: s.Tokens.Input, OutputTokens: s.Tokens.Output,
		AccumulatedTotalTokens:  s.Tokens.AccumulatedTotal,
		AccumulatedInputTokens:  s.Tokens.AccumulatedInput,
		AccumulatedOutputTokens: s.Tokens.AccumulatedOutput,
		ScheduleID:              s.ScheduleID,
		Recipe:                  (*api.Recipe)(s.Recipe), UserRecipeValues: s.UserRecipeValues,
		Conversation: conversation, MessageCount: s.MessageCount,
		ProviderName: s.ProviderName, ModelConfig: (*api.ModelConfig)(s.ModelConfig),
	}
}

// Export returns the session's JSON, indented unless most of it would be blanks (decision G36).
func (s Session) Export() []byte {
	text := jsonwire.Of(s)
	if size := text.IndentedSize(); size > 1<<20 && size > 4*len(text) {
		return text
	}
	return text.Indented()
}

// clientData is the member of the extension data that names the session's client (CT 11.6).
const clientData = "client_tools.v0"

// ClientID returns the client to which the session belongs, or "" if it belongs to none.
func (s Session) ClientID() string {
	data, err := jsonwire.Parse(s.ExtensionData)
	if err != nil || data.Kind() != "object" {
		return ""
	}
	if owner := data.Get(clientData); owner.Kind() == "object" && owner.Get("clientID").Kind() == "string" {
		return owner.Get("clientID").Str()
	}
	return ""
}

// ErrNotFound means that the session does not exist.
var ErrNotFound = errors.New("session not found")

// A Conversation is the messages of a session when it was read.
type Conversation struct {
	Messages []message.Message
	Rows     []int64 // the numbers of the messages; they increase, and are never reused
}

// End returns the number of the latest message, or 0 if there is none.
func (c Conversation) End() int64 {
	if len(c.Rows) == 0 {
		return 0
	}
	return slices.Max(c.Rows)
}
