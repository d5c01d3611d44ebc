// Package recipe has recipes: prepared conversations with instructions, parameters and tools (GA 4.10, 11). A recipe
// is decoded from JSON or parsed from a file, then validated, and rendered with the values of its parameters.
package recipe

import (
	"encoding/json"
	"math"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Recipe is one recipe. A nil pointer, list or RawMessage is an absent field.
type Recipe struct {
	Version, Title, Description string

	Instructions, Prompt *string
	Extensions           []extension.Config
	Settings             *Settings
	Activities           []string
	Author               *Author
	Parameters           []Parameter
	Response             *Response
	SubRecipes           []SubRecipe
	Retry                *Retry
}

type (
	// Settings choose the model.
	Settings struct {
		Provider, Model *string
		Temperature     json.Number // empty if absent
	}
	// Author says who wrote a recipe.
	Author struct{ Contact, Metadata *string }
	// A Parameter is a value that a user provides.
	Parameter struct {
		Key         string
		InputType   string // string, number, boolean, date, file or select
		Requirement string // required, optional or user_prompt
		Description string
		Default     *string
		Options     []string
	}
	// Response describes the final output.
	Response struct{ JSONSchema json.RawMessage }
	// A SubRecipe is a recipe that another recipe can run.
	SubRecipe struct {
		Name, Path             string
		Values                 jsonwire.Pairs // nil is null
		SequentialWhenRepeated bool
		Description            *string
	}
	// Retry says when a run must be repeated.
	Retry struct {
		MaxRetries              int64
		Checks                  []string // shell commands
		OnFailure               *string
		TimeoutSeconds          *int64
		OnFailureTimeoutSeconds *int64
	}
)

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
		Extensions:   decode.MaybeList(o, "extensions", extension.DecodeInRecipe),
		Settings:     decode.MaybeField(o, "settings", decodeSettings),
		Activities:   decode.MaybeList(o, "activities", decode.Value.Str),
		Author:       decode.MaybeField(o, "author", decodeAuthor),
		Parameters:   decode.MaybeList(o, "parameters", decodeParameter),
		Response:     decode.MaybeField(o, "response", decodeResponse),
		SubRecipes:   decode.MaybeList(o, "sub_recipes", decodeSubRecipe),
		Retry:        decode.MaybeField(o, "retry", func(v decode.Value) (Retry, error) { return decodeRetry(v, least) }),
	}, o.Err()
}

func decodeSettings(v decode.Value) (Settings, error) {
	o := v.Object("goose_provider", "goose_model", "temperature")
	s := Settings{Provider: o.MaybeString("goose_provider"), Model: o.MaybeString("goose_model")}
	if temperature := decode.MaybeField(o, "temperature", decode.Value.Number); temperature != nil {
		s.Temperature = *temperature
	}
	return s, o.Err()
}

func decodeAuthor(v decode.Value) (Author, error) {
	o := v.Object("contact", "metadata")
	return Author{Contact: o.MaybeString("contact"), Metadata: o.MaybeString("metadata")}, o.Err()
}

func decodeParameter(v decode.Value) (Parameter, error) {
	o := v.Object("key", "input_type", "requirement", "description", "default", "options")
	return Parameter{
		Key:         o.String("key"),
		InputType:   o.OneOf("input_type", "string", "number", "boolean", "date", "file", "select"),
		Requirement: o.OneOf("requirement", "required", "optional", "user_prompt"),
		Description: o.String("description"),
		Default:     o.MaybeString("default"),
		Options:     decode.MaybeList(o, "options", decode.Value.Str),
	}, o.Err()
}

func decodeResponse(v decode.Value) (Response, error) {
	o := v.Object("json_schema")
	return Response{o.MaybeAny("json_schema")}, o.Err()
}

func decodeSubRecipe(v decode.Value) (SubRecipe, error) {
	o := v.Object("name", "path", "values", "sequential_when_repeated", "description")
	sub := SubRecipe{Name: o.String("name"), Path: o.String("path")}
	if values := decode.MaybeField(o, "values", decode.TextPairs); values != nil {
		sub.Values = *values
	}
	sub.SequentialWhenRepeated = decode.FieldOr(o, "sequential_when_repeated", false, decode.Value.Bool)
	sub.Description = o.MaybeString("description")
	return sub, o.Err()
}

func decodeRetry(v decode.Value, least int64) (Retry, error) {
	o := v.Object("max_retries", "checks", "on_failure", "timeout_seconds", "on_failure_timeout_seconds")
	return Retry{
		MaxRetries:              decode.Field(o, "max_retries", decode.Within(least, math.MaxInt32)),
		Checks:                  decode.List(o, "checks", decodeCheck),
		OnFailure:               o.MaybeString("on_failure"),
		TimeoutSeconds:          decode.MaybeField(o, "timeout_seconds", decode.Within(least, math.MaxInt64)),
		OnFailureTimeoutSeconds: decode.MaybeField(o, "on_failure_timeout_seconds", decode.Within(least, math.MaxInt64)),
	}, o.Err()
}

// decodeCheck returns the command of a check. There is only one type of check.
func decodeCheck(v decode.Value) (string, error) {
	o := v.Object("type", "command")
	o.OneOf("type", "Shell", "shell")
	return o.String("command"), o.Err()
}
