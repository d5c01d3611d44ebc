package recipe

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-dev/lockstep/server/template"
)

// An Invalid recipe is one that can be read but must not be used. The text is shown to clients.
type Invalid string

func (e Invalid) Error() string { return string(e) }

// recipeDir is the variable that every template has: the directory of the recipe library.
const recipeDir = "recipe_dir"

// Validate says what is wrong with a recipe, in the order of GA 11.2 (decision G21). The error is an [Invalid].
func (r Recipe) Validate() error {
	for _, check := range []func(Recipe) error{checkDefaults, checkParameters, checkOrders, checkSchema} {
		if err := check(r); err != nil {
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
		return Invalid("File parameters must not have a default: " + strings.Join(withDefault, ", ") + ".")
	case without != nil:
		return Invalid("Optional parameters must have a default: " + strings.Join(without, ", ") + ".")
	}
	return nil
}

// checkParameters compares what the texts use with what is declared.
func checkParameters(r Recipe) error {
	used, err := r.variables()
	if err != nil {
		return Invalid("Invalid template: " + err.Error())
	}
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
		return Invalid(strings.Join(texts, " "))
	}
	return nil
}

// variables returns the variables of all templates, sorted.
func (r Recipe) variables() ([]string, error) {
	var names []string
	err := r.texts(func(text string) (string, error) {
		parsed, err := template.Parse(text)
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

func checkSchema(r Recipe) error {
	if r.Response == nil || r.Response.JSONSchema == nil {
		return nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Response.JSONSchema))
	if err == nil {
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is fetched
		if err = compiler.AddResource("response:schema", document); err == nil {
			_, err = compiler.Compile("response:schema")
		}
	}
	if err != nil {
		return Invalid(fmt.Sprintf("JSON schema validation failed: %v", err))
	}
	return nil
}
