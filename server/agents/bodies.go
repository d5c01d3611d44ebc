package agents

import (
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/recipe"
)

// Bodies are the shapes of the bodies, by operation.
var Bodies = map[string]body.Shape{
	"startAgent":        body.ShapeOf(decodeStart),
	"resumeAgent":       body.ShapeOf(decodeResume),
	"stopAgent":         body.ShapeOf(decodeSession),
	"updateFromSession": body.ShapeOf(decodeSession),
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
	resumeRequest struct {
		sessionID string
		load      bool
	}
	sessionRequest struct{ sessionID string }
	addRequest     struct {
		sessionID string
		config    extension.Config
	}
	removeRequest struct{ name, sessionID string }
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

func decodeResume(v decode.Value) (resumeRequest, error) {
	o := v.Object("session_id", "load_model_and_extensions")
	return resumeRequest{o.String("session_id"), o.Bool("load_model_and_extensions")}, o.Err()
}

func decodeSession(v decode.Value) (sessionRequest, error) {
	o := v.Object("session_id")
	return sessionRequest{o.String("session_id")}, o.Err()
}

func decodeAdd(v decode.Value) (addRequest, error) {
	o := v.Object("session_id", "config")
	return addRequest{o.String("session_id"), decode.Field(o, "config", extension.Decode)}, o.Err()
}

func decodeRemove(v decode.Value) (removeRequest, error) {
	o := v.Object("name", "session_id")
	return removeRequest{o.String("name"), o.String("session_id")}, o.Err()
}
