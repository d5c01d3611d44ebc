package agents

import (
	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// Bodies are the decoders of the request bodies, by operation.
var Bodies = map[string]body.Shape{
	"startAgent":        body.ShapeOf(decodeStart),
	"resumeAgent":       body.ShapeOf(decodeResume),
	"stopAgent":         body.ShapeOf(decodeStop),
	"updateFromSession": body.ShapeOf(decodeUpdate),
	"addExtension":      body.ShapeOf(decodeAdd),
	"removeExtension":   body.ShapeOf(decodeRemove),
}

func decodeStart(v decode.Value) (api.StartAgentRequest, error) {
	o := v.Object("working_dir", "recipe", "recipe_id", "recipe_deeplink", "clientID")
	return api.StartAgentRequest{
		WorkingDir:     o.String("working_dir"),
		Recipe:         (*api.Recipe)(decode.MaybeField(o, "recipe", recipe.Decode)),
		RecipeID:       o.MaybeString("recipe_id"),
		RecipeDeeplink: o.MaybeString("recipe_deeplink"),
		ClientID:       decode.FieldOr(o, "clientID", nil, decodeClientID),
	}, o.Err()
}

// decodeClientID reads the client of a session, which must have a name (CT 11.6, decision S72).
func decodeClientID(v decode.Value) (*string, error) {
	id, err := v.Str()
	if err == nil && id == "" {
		err = v.Fail("invalid value: empty string")
	}
	return &id, err
}

func decodeResume(v decode.Value) (api.ResumeAgentRequest, error) {
	o := v.Object("session_id", "load_model_and_extensions")
	return api.ResumeAgentRequest{SessionID: o.String("session_id"), LoadModelAndExtensions: o.Bool("load_model_and_extensions")}, o.Err()
}

func decodeStop(v decode.Value) (api.StopAgentRequest, error) {
	o := v.Object("session_id")
	return api.StopAgentRequest{SessionID: o.String("session_id")}, o.Err()
}

func decodeUpdate(v decode.Value) (api.UpdateFromSessionRequest, error) {
	o := v.Object("session_id")
	return api.UpdateFromSessionRequest{SessionID: o.String("session_id")}, o.Err()
}

func decodeAdd(v decode.Value) (api.AddExtensionRequest, error) {
	o := v.Object("session_id", "config")
	return api.AddExtensionRequest{SessionID: o.String("session_id"), Config: decode.Field(o, "config", extension.Checked)}, o.Err()
}

func decodeRemove(v decode.Value) (api.RemoveExtensionRequest, error) {
	o := v.Object("name", "session_id")
	return api.RemoveExtensionRequest{Name: o.String("name"), SessionID: o.String("session_id")}, o.Err()
}
