package message

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// An Action is a question to the user, or its answer (GA 4.4): [ToolConfirmation], [Elicitation] or
// [ElicitationResponse]. All are used as values.
type Action interface {
	// Write writes the action as JSON.
	Write(w *jsonwire.Writer)
	isAction()
}

// The actions.
type (
	// ToolConfirmation asks whether a tool may run.
	ToolConfirmation struct {
		ID, ToolName string
		Arguments    json.RawMessage // an object
		Prompt       *string
	}
	// Elicitation is a question of an MCP server.
	Elicitation struct {
		ID, Message     string
		RequestedSchema json.RawMessage // any JSON
	}
	// ElicitationResponse is the user's answer to an [Elicitation].
	ElicitationResponse struct {
		ID       string
		UserData json.RawMessage // any JSON
	}
)

func (ToolConfirmation) isAction()    {}
func (Elicitation) isAction()         {}
func (ElicitationResponse) isAction() {}

func decodeAction(v decode.Value) (Action, error) {
	kind, err := decode.Tag(v, "actionType", "toolConfirmation", "elicitation", "elicitationResponse")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "toolConfirmation":
		return decodeConfirmation(v)
	case "elicitation":
		o := v.Object("id", "message", "requested_schema")
		return Elicitation{ID: o.String("id"), Message: o.String("message"), RequestedSchema: o.Any("requested_schema")}, o.Err()
	default:
		o := v.Object("id", "user_data")
		return ElicitationResponse{ID: o.String("id"), UserData: o.Any("user_data")}, o.Err()
	}
}

func decodeConfirmation(v decode.Value) (ToolConfirmation, error) {
	o := v.Object("id", "toolName", "arguments", "prompt")
	return ToolConfirmation{
		ID:        o.String("id"),
		ToolName:  o.String("toolName"),
		Arguments: o.AnyObject("arguments"),
		Prompt:    o.MaybeString("prompt"),
	}, o.Err()
}

func (a ToolConfirmation) Write(w *jsonwire.Writer) {
	w.Value(api.ToolConfirmation{
		ActionType: api.ToolConfirmationActionTypeToolConfirmation, ID: a.ID, ToolName: a.ToolName,
		Arguments: ObjectOrEmpty(a.Arguments), Prompt: a.Prompt,
	})
}

func (a Elicitation) Write(w *jsonwire.Writer) {
	w.Value(api.Elicitation{
		ActionType: api.ElicitationActionTypeElicitation, ID: a.ID, Message: a.Message, RequestedSchema: a.RequestedSchema,
	})
}

func (a ElicitationResponse) Write(w *jsonwire.Writer) {
	w.Value(api.ElicitationResponse{
		ActionType: api.ElicitationResponseActionTypeElicitationResponse, ID: a.ID, UserData: a.UserData,
	})
}
