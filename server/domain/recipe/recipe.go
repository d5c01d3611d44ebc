// Package recipe defines recipes: prepared conversations with instructions, parameters and tools (GA 4.10, 11). A recipe
// is decoded from JSON or parsed from a file, then validated, and rendered with the values of its parameters.
package recipe

import (
	"fmt"
	"math"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// A Recipe is one recipe. A nil pointer, list or RawMessage is an absent field, and so is an empty number.
type Recipe api.Recipe

// A SubRecipe is a recipe that another recipe can run. Nil values are null.
type SubRecipe = api.SubRecipe

// Write writes the recipe as JSON, without absent fields.
func (r Recipe) Write(w *jsonwire.Writer) { w.Value(api.Recipe(r)) }

// Decode reads a recipe from a request. The numbers of its retry must be positive (decision G6).
func Decode(v decode.Value) (Recipe, error) { return decodeWith(v, 1) }

// decodeWritten reads a recipe from a file or a link. It accepts zeros in its retry, which [Recipe.Validate] rejects.
func decodeWritten(v decode.Value) (Recipe, error) { return decodeWith(v, 0) }

func decodeWith(v decode.Value, least int64) (Recipe, error) {
	o := v.Object("version", "title", "description", "instructions", "prompt", "extensions", "settings", "activities",
		"author", "parameters", "response", "sub_recipes", "retry")
	return Recipe{
		Version:      decode.FieldOr(o, "version", "1.0.0", decode.Value.Str),
		Title:        o.String("title"),
		Description:  o.String("description"),
		Instructions: o.MaybeString("instructions"),
		Prompt:       o.MaybeString("prompt"),
		Extensions:   decode.MaybeList(o, "extensions", decodeExtension),
		Settings:     decode.MaybeField(o, "settings", decodeSettings),
		Activities:   decode.MaybeList(o, "activities", decode.Value.Str),
		Author:       decode.MaybeField(o, "author", decodeAuthor),
		Parameters:   decode.MaybeList(o, "parameters", decodeParameter),
		Response:     decode.MaybeField(o, "response", decodeResponse),
		SubRecipes:   decode.MaybeList(o, "sub_recipes", decodeSubRecipe),
		Retry:        decode.MaybeField(o, "retry", func(v decode.Value) (api.RetryConfig, error) { return decodeRetry(v, least) }),
	}, o.Err()
}

func decodeExtension(v decode.Value) (api.ExtensionConfig, error) {
	config, err := extension.DecodeInRecipe(v)
	if err != nil {
		return nil, err
	}
	return api.ExtensionConfig(jsonwire.Of(config)), nil
}

func decodeSettings(v decode.Value) (api.Settings, error) {
	o := v.Object("goose_provider", "goose_model", "temperature")
	return api.Settings{
		GooseProvider: o.MaybeString("goose_provider"),
		GooseModel:    o.MaybeString("goose_model"),
		Temperature:   decode.FieldOrZero(o, "temperature", decode.Value.Number),
	}, o.Err()
}

func decodeAuthor(v decode.Value) (api.Author, error) {
	o := v.Object("contact", "metadata")
	return api.Author{Contact: o.MaybeString("contact"), Metadata: o.MaybeString("metadata")}, o.Err()
}

func decodeParameter(v decode.Value) (api.RecipeParameter, error) {
	o := v.Object("key", "input_type", "requirement", "description", "default", "options")
	return api.RecipeParameter{
		Key:         o.String("key"),
		InputType:   api.RecipeParameterInputType(o.OneOf("input_type", "string", "number", "boolean", "date", "file", "select")),
		Requirement: api.RecipeParameterRequirement(o.OneOf("requirement", "required", "optional", "user_prompt")),
		Description: o.String("description"),
		Default:     o.MaybeString("default"),
		Options:     decode.MaybeList(o, "options", decode.Value.Str),
	}, o.Err()
}

func decodeResponse(v decode.Value) (api.Response, error) {
	o := v.Object("json_schema")
	return api.Response{JSONSchema: o.MaybeAny("json_schema")}, o.Err()
}

func decodeSubRecipe(v decode.Value) (SubRecipe, error) {
	o := v.Object("name", "path", "values", "sequential_when_repeated", "description")
	return SubRecipe{
		Name:                   o.String("name"),
		Path:                   o.String("path"),
		Values:                 decode.FieldOrZero(o, "values", decode.TextPairs),
		SequentialWhenRepeated: decode.FieldOr(o, "sequential_when_repeated", false, decode.Value.Bool),
		Description:            o.MaybeString("description"),
	}, o.Err()
}

func decodeRetry(v decode.Value, least int64) (api.RetryConfig, error) {
	o := v.Object("max_retries", "checks", "on_failure", "timeout_seconds", "on_failure_timeout_seconds")
	return api.RetryConfig{
		MaxRetries:              decode.Field(o, "max_retries", decode.Within(least, math.MaxInt32)),
		Checks:                  decode.List(o, "checks", decodeCheck),
		OnFailure:               o.MaybeString("on_failure"),
		TimeoutSeconds:          decode.MaybeField(o, "timeout_seconds", decode.Within(least, math.MaxInt64)),
		OnFailureTimeoutSeconds: decode.MaybeField(o, "on_failure_timeout_seconds", decode.Within(least, math.MaxInt64)),
	}, o.Err()
}

func decodeCheck(v decode.Value) (api.SuccessCheck, error) {
	o := v.Object("type", "command")
	o.OneOf("type", "Shell", "shell")
	check := api.ShellCheck{Type: api.ShellCheckTypeShell, Command: o.String("command")}
	return api.SuccessCheck(jsonwire.Marshal(check)), o.Err()
}

// Parse reads a recipe from YAML, which includes JSON (GA 11.2). If there is a key "recipe" at the top level, its
// value is the recipe.
func Parse(text []byte) (Recipe, error) {
	json, err := yamljson.Parse(text)
	if err != nil {
		return Recipe{}, fmt.Errorf("not YAML: %w", err)
	}
	v, err := decode.Parse(json)
	if err != nil {
		return Recipe{}, err
	}
	for name, inner := range v.Members() {
		if name == "recipe" {
			v = inner
			break
		}
	}
	return decodeWritten(v)
}
