package recipe

import (
	"context"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/recipe/template"
	"github.com/lockstep-dev/lockstep/server/wire/jsonschema"
)

// An Invalid error is about a recipe that can be read but must not be used. Its text is for clients.
type Invalid string

func (e Invalid) Error() string { return string(e) }

// recipeDir is a variable of every template: the directory of the recipe library.
const recipeDir = "recipe_dir"

// Validate returns what is wrong with a recipe, in the order of GA 11.2 (decision G21). The error is an [Invalid], or
// that of the context.
func (r Recipe) Validate(ctx context.Context) error {
	if err := checkDefaults(r); err != nil {
		return err
	}
	used, err := r.variables(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return Invalid("Invalid template: " + err.Error())
	}
	for _, check := range []func() error{
		func() error { return checkParameters(r, used) },
		func() error { return checkOrders(r) },
		func() error { return checkRetry(r.Retry) },
		func() error { return checkSchema(r.Response) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func checkDefaults(r Recipe) error {
	var withDefault, without []string
	for _, p := range r.Parameters {
		if p.InputType == "file" && p.Default != nil {
			withDefault = append(withDefault, p.Key)
		}
		if p.Requirement == "optional" && p.InputType != "file" && p.Default == nil {
			without = append(without, p.Key)
		}
	}
	switch {
	case withDefault != nil:
		return Invalid("File parameters cannot have default values to avoid importing sensitive user files: " + strings.Join(withDefault, ", "))
	case without != nil:
		return Invalid("Optional parameters missing default values in the recipe: " + strings.Join(without, ", ") + ". Please provide defaults.")
	}
	return nil
}

// checkParameters compares the variables of the texts with the declared parameters.
func checkParameters(r Recipe, used []string) error {
	declared := map[string]bool{recipeDir: true}
	var undeclared, unused []string
	for _, p := range r.Parameters {
		declared[p.Key] = true
		if _, found := slices.BinarySearch(used, p.Key); !found || p.Key == recipeDir {
			unused = append(unused, p.Key)
		}
	}
	for _, name := range used {
		if !declared[name] {
			undeclared = append(undeclared, name)
		}
	}
	slices.Sort(unused)
	var texts []string
	if undeclared != nil {
		texts = append(texts, "Missing definitions for parameters in the recipe file: "+strings.Join(undeclared, ", ")+".")
	}
	if unused != nil {
		texts = append(texts, "Unnecessary parameter definitions: "+strings.Join(slices.Compact(unused), ", ")+".")
	}
	if texts != nil {
		return Invalid(strings.Join(texts, "\n"))
	}
	return nil
}

// variables returns the variables of all templates, sorted.
func (r Recipe) variables(ctx context.Context) ([]string, error) {
	var names []string
	work := template.NewWork(ctx)
	err := r.texts(func(text string) (string, error) {
		parsed, err := work.Parse(text)
		if err == nil {
			names = append(names, parsed.Variables()...)
		}
		return text, err
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

func checkOrders(r Recipe) error {
	for _, text := range []*string{r.Instructions, r.Prompt} {
		if text != nil && strings.TrimSpace(*text) != "" {
			return nil
		}
	}
	return Invalid("Recipe must specify at least one of `instructions` or `prompt`.")
}

// checkRetry returns the errors of GA 25.2.
func checkRetry(retry *api.RetryConfig) error {
	if retry == nil {
		return nil
	}
	none := func(seconds *int64) bool { return seconds != nil && *seconds <= 0 }
	switch {
	case retry.MaxRetries <= 0:
		return Invalid("Invalid retry configuration: max_retries must be greater than 0")
	case none(retry.TimeoutSeconds):
		return Invalid("Invalid retry configuration: timeout_seconds must be greater than 0 if specified")
	case none(retry.OnFailureTimeoutSeconds):
		return Invalid("Invalid retry configuration: on_failure_timeout_seconds must be greater than 0 if specified")
	}
	return nil
}

func checkSchema(response *api.Response) error {
	if response == nil || response.JSONSchema == nil {
		return nil
	}
	if _, err := jsonschema.Compile(response.JSONSchema); err != nil {
		return Invalid("JSON schema validation failed: " + err.Error())
	}
	return nil
}
