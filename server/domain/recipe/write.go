package recipe

import (
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Write writes the recipe as JSON, without absent fields.
func (r Recipe) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("version").String(r.Version)
	w.Name("title").String(r.Title)
	w.Name("description").String(r.Description)
	w.MaybeString("instructions", r.Instructions)
	w.MaybeString("prompt", r.Prompt)
	list(w, "extensions", r.Extensions, extension.Config.Write)
	if s := r.Settings; s != nil {
		w.Name("settings").Open('{')
		w.MaybeString("goose_provider", s.Provider)
		w.MaybeString("goose_model", s.Model)
		if s.Temperature != "" {
			w.MaybeRaw("temperature", []byte(s.Temperature))
		}
		w.Close('}')
	}
	if r.Activities != nil {
		w.Name("activities").Strings(r.Activities)
	}
	if a := r.Author; a != nil {
		w.Name("author").Open('{')
		w.MaybeString("contact", a.Contact)
		w.MaybeString("metadata", a.Metadata)
		w.Close('}')
	}
	list(w, "parameters", r.Parameters, Parameter.write)
	if r.Response != nil {
		w.Name("response").Open('{')
		w.MaybeRaw("json_schema", r.Response.JSONSchema)
		w.Close('}')
	}
	list(w, "sub_recipes", r.SubRecipes, SubRecipe.write)
	if r.Retry != nil {
		w.Name("retry")
		r.Retry.write(w)
	}
	w.Close('}')
}

// list writes a member with an array, or nothing if it is nil.
func list[T any](w *jsonwire.Writer, name string, items []T, write func(T, *jsonwire.Writer)) {
	if items != nil {
		jsonwire.Array(w.Name(name), items, write)
	}
}

func (p Parameter) write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("key").String(p.Key)
	w.Name("input_type").String(p.InputType)
	w.Name("requirement").String(p.Requirement)
	w.Name("description").String(p.Description)
	w.MaybeString("default", p.Default)
	if p.Options != nil {
		w.Name("options").Strings(p.Options)
	}
	w.Close('}')
}

func (s SubRecipe) write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("name").String(s.Name)
	w.Name("path").String(s.Path)
	w.Name("values")
	s.Values.WriteOrNull(w)
	w.Name("sequential_when_repeated").Bool(s.SequentialWhenRepeated)
	w.MaybeString("description", s.Description)
	w.Close('}')
}

func (r Retry) write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("max_retries").Int(r.MaxRetries)
	list(w, "checks", r.Checks, func(command string, w *jsonwire.Writer) {
		w.Open('{')
		w.Name("type").String("Shell")
		w.Name("command").String(command)
		w.Close('}')
	})
	w.MaybeString("on_failure", r.OnFailure)
	w.MaybeInt("timeout_seconds", r.TimeoutSeconds)
	w.MaybeInt("on_failure_timeout_seconds", r.OnFailureTimeoutSeconds)
	w.Close('}')
}
