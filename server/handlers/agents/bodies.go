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

type (
	startRequest struct {
		workingDir     string
		recipe         *recipe.Recipe
		recipeID       *string
		recipeDeeplink *string
	}
	addRequest struct {
		sessionID string
		config    extension.Config
	}
)

func decodeStart(v decode.Value) (startRequest, error) {
	o := v.Object("working_dir", "recipe", "recipe_id", "recipe_deeplink")
	return startRequest{
		workingDir:     o.String("working_dir"),
		recipe:         decode.MaybeField(o, "recipe", recipe.Decode),
		recipeID:       o.MaybeString("recipe_id"),
		recipeDeeplink: o.MaybeString("recipe_deeplink"),
	}, o.Err()
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

func decodeAdd(v decode.Value) (addRequest, error) {
	o := v.Object("session_id", "config")
	return addRequest{o.String("session_id"), decode.Field(o, "config", extension.Decode)}, o.Err()
}

func decodeRemove(v decode.Value) (api.RemoveExtensionRequest, error) {
	o := v.Object("name", "session_id")
	return api.RemoveExtensionRequest{Name: o.String("name"), SessionID: o.String("session_id")}, o.Err()
}
