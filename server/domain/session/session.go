// Package session has the session as plain data: a conversation with everything that belongs to it (GA 4.7). Package
// store stores sessions; package sessions handles the requests about them.
package session

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Type says what a session is for.
type Type string

// The types of sessions. Only those of users and schedules are listed.
const (
	User      Type = "user"
	Scheduled Type = "scheduled"
	SubAgent  Type = "sub_agent"
	Hidden    Type = "hidden"
	Terminal  Type = "terminal"
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

// fields are the keys of a session in order.
var fields = []string{
	"id", "working_dir", "name", "user_set_name", "session_type", "created_at", "updated_at", "extension_data",
	"total_tokens", "input_tokens", "output_tokens",
	"accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens",
	"schedule_id", "recipe", "user_recipe_values", "conversation", "message_count", "provider_name", "model_config",
}

// Decode reads an exported session. The name may have its old key, description.
func Decode(v decode.Value) (Session, error) {
	o := v.Object(append(fields[:len(fields):len(fields)], "description")...)
	s := Session{ID: o.String("id"), WorkingDir: o.String("working_dir"), Name: decodeName(o)}
	s.UserSetName = decode.FieldOr(o, "user_set_name", false, decode.Value.Bool)
	s.Type = decode.FieldOr(o, "session_type", User, decodeType)
	s.CreatedAt = decode.Field(o, "created_at", decode.Value.Time)
	s.UpdatedAt = decode.Field(o, "updated_at", decode.Value.Time)
	s.ExtensionData = o.AnyObject("extension_data")
	s.Tokens = modelconfig.Tokens{
		Total: o.MaybeInt32("total_tokens"), Input: o.MaybeInt32("input_tokens"), Output: o.MaybeInt32("output_tokens"),
		AccumulatedTotal:  o.MaybeInt32("accumulated_total_tokens"),
		AccumulatedInput:  o.MaybeInt32("accumulated_input_tokens"),
		AccumulatedOutput: o.MaybeInt32("accumulated_output_tokens"),
	}
	s.ScheduleID = o.MaybeString("schedule_id")
	s.Recipe = decode.MaybeField(o, "recipe", recipe.Decode)
	if values := decode.MaybeField(o, "user_recipe_values", decode.Pairs); values != nil {
		s.UserRecipeValues = *values
	}
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
	kind, err := v.OneOf(string(User), string(Scheduled), string(SubAgent), string(Hidden), string(Terminal))
	return Type(kind), err
}

// Write writes the session as JSON with all keys, in order.
func (s Session) Write(w *jsonwire.Writer) { s.WriteWith(w, s.writeConversation) }

// WriteWith writes the session as JSON, with a function that writes the conversation.
func (s Session) WriteWith(w *jsonwire.Writer, conversation func(w *jsonwire.Writer)) {
	w.Open('{')
	for _, field := range fields {
		w.Name(field)
		if field == "conversation" {
			conversation(w)
		} else {
			s.write(w, field)
		}
	}
	w.Close('}')
}

// write writes the value of one key.
func (s Session) write(w *jsonwire.Writer, field string) {
	switch field {
	case "id":
		w.String(s.ID)
	case "working_dir":
		w.String(s.WorkingDir)
	case "name":
		w.String(s.Name)
	case "user_set_name":
		w.Bool(s.UserSetName)
	case "session_type":
		w.String(string(s.Type))
	case "created_at":
		w.String(jsonwire.Time(s.CreatedAt))
	case "updated_at":
		w.String(jsonwire.Time(s.UpdatedAt))
	case "extension_data":
		w.Raw(s.ExtensionData)
	case "total_tokens":
		w.IntOrNull(s.Tokens.Total)
	case "input_tokens":
		w.IntOrNull(s.Tokens.Input)
	case "output_tokens":
		w.IntOrNull(s.Tokens.Output)
	case "accumulated_total_tokens":
		w.IntOrNull(s.Tokens.AccumulatedTotal)
	case "accumulated_input_tokens":
		w.IntOrNull(s.Tokens.AccumulatedInput)
	case "accumulated_output_tokens":
		w.IntOrNull(s.Tokens.AccumulatedOutput)
	case "schedule_id":
		w.StringOrNull(s.ScheduleID)
	case "recipe":
		if s.Recipe == nil {
			w.Null()
		} else {
			s.Recipe.Write(w)
		}
	case "user_recipe_values":
		s.UserRecipeValues.WriteOrNull(w)
	case "message_count":
		w.Int(s.MessageCount)
	case "provider_name":
		w.StringOrNull(s.ProviderName)
	case "model_config":
		if s.ModelConfig == nil {
			w.Null()
		} else {
			s.ModelConfig.Write(w)
		}
	}
}

func (s Session) writeConversation(w *jsonwire.Writer) {
	if s.Conversation == nil {
		w.Null()
		return
	}
	jsonwire.Array(w, s.Conversation, message.Message.Write)
}

// Export returns the session's JSON, indented unless most of it would be blanks (decision G36).
func (s Session) Export() []byte {
	text := jsonwire.Of(s)
	if size := text.IndentedSize(); size > 1<<20 && size > 4*len(text) {
		return text
	}
	return text.Indented()
}
