package recipe_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func parse(t *testing.T, text string) recipe.Recipe {
	t.Helper()
	r, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return r
}

func written(r recipe.Recipe) string { return string(jsonwire.Of(r)) }

func deeplink(r recipe.Recipe) string { return base64.RawURLEncoding.EncodeToString(jsonwire.Of(r)) }

func TestRecipesAreParsedFromYAML(t *testing.T) {
	const want = `{"version":"1.0.0","title":"t","description":"d","prompt":"p","extensions":[{"type":"platform","name":"todo","description":"","bundled":null,"available_tools":[]}],` +
		`"settings":{"temperature":0.10},"response":{},"sub_recipes":[{"name":"s","path":"p","values":{"n":"3","s":"x","l":"[1,null]"},"sequential_when_repeated":true,"description":"d"}],` +
		`"retry":{"max_retries":3,"checks":[{"type":"Shell","command":"true"}]}}`
	const body = `title: t
description: d
prompt: p
instructions: ~
unknown: {a: 1}
extensions:
- {type: platform, name: todo}
settings: {temperature: 0.10}
response: {json_schema: null}
sub_recipes:
- {name: s, path: p, values: {n: 3, s: x, l: [1, ~]}, sequential_when_repeated: true, description: d}
retry: {max_retries: 3, checks: [{type: shell, command: "true"}]}
`
	for _, text := range []string{body, "recipe:\n  " + strings.ReplaceAll(body, "\n", "\n  ") + "\nname: saved\n", want} {
		if got := written(parse(t, text)); got != want {
			t.Errorf("parsed:\n got %s\nwant %s", got, want)
		}
	}
	for text, want := range map[string]string{
		"":                         "invalid type: null, expected an object",
		"[]":                       "invalid type: array, expected an object",
		"title: t":                 "missing field `description`",
		"title: [":                 "not YAML",
		"recipe: 1\ntitle: t":      "recipe: invalid type: number, expected an object",
		"title: t\ndescription: 5": "description: invalid type: number, expected a string",
		"{title: t, description: d, retry: {max_retries: -1, checks: []}}":                                  "retry.max_retries: invalid value: integer out of range",
		"{title: t, description: d, retry: {max_retries: 1, checks: [{type: Perl, command: x}]}}":           "retry.checks[0].type: unknown variant `Perl`",
		"{title: t, description: d, parameters: [{key: k, input_type: x, requirement: r, description: d}]}": "parameters[0].input_type: unknown variant `x`",
	} {
		if _, err := recipe.Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%s): %v, want %s", text, err, want)
		}
	}
}

func TestValidation(t *testing.T) {
	parameter := func(key, kind, requirement, more string) string {
		return "{key: " + key + ", input_type: " + kind + ", requirement: " + requirement + ", description: ''" + more + "}"
	}
	valid := []string{
		"{title: t, description: d, prompt: p}",
		"{title: '{{ recipe_dir }}', description: d, instructions: ' ', prompt: 'x {{two words}}'}",
		"{title: t, description: '{{ b }}', prompt: '{% if a %}{% endif %}', parameters: [" + parameter("a", "string", "required", "") + "," + parameter("b", "number", "optional", ", default: '1'") + "]}",
		"{title: t, description: d, prompt: p, response: {json_schema: {type: object}}}",
		"{title: t, description: d, prompt: p, sub_recipes: [{name: n, path: '{{ a }}'}], parameters: [" + parameter("a", "file", "user_prompt", "") + "]}",
	}
	for _, text := range valid {
		if err := parse(t, text).Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"{title: t, description: d}":                                     "Recipe must specify at least one of `instructions` or `prompt`.",
		"{title: t, description: d, prompt: \" \\n\", instructions: ''}": "Recipe must specify at least one of `instructions` or `prompt`.",
		"{title: t, description: d, prompt: '{{ b }} {{ a }} {{ c }}', parameters: [" + parameter("c", "string", "required", "") + "," + parameter("z", "string", "required", "") + "," + parameter("y", "string", "required", "") + "]}": "Missing definitions for parameters in the recipe file: a, b.\nUnnecessary parameter definitions: y, z.",
		"{title: t, description: d, prompt: '{{ a }}', parameters: [" + parameter("a", "file", "required", ", default: x") + "]}":                                                                                                         "File parameters cannot have default values to avoid importing sensitive user files: a",
		"{title: t, description: d, parameters: [" + parameter("a", "string", "optional", "") + "]}":                                                                                                                                      "Optional parameters missing default values in the recipe: a. Please provide defaults.",
		"{title: t, description: d, prompt: '{% nope %}'}":                                             `Invalid template: unknown tag "nope"`,
		"{title: t, description: d, prompt: p, response: {json_schema: {type: 5}}}":                    "JSON schema validation failed: ",
		"{title: t, description: d, prompt: p, response: {json_schema: {$ref: 'http://127.0.0.1/x'}}}": "JSON schema validation failed: ",
	} {
		err := parse(t, text).Validate(t.Context())
		if invalid := recipe.Invalid(""); !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(want, ": ") && err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestRendering(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"part.txt": "part of {{ a }}", "sub.yaml": "", "value.txt": "{{ not a template }}\n"} {
		testfile.Write(t, filepath.Join(dir, name), content)
	}
	const text = `
title: "{{ a }}"
description: "{{ recipe_dir }}"
instructions: "{% include 'part.txt' %}, \"{{ quoted }}\" {{ file }}"
activities: ["{{ a|upper }}", "{{two words}}"]
parameters:
- {key: a, input_type: string, requirement: required, description: "{{ a }}"}
- {key: quoted, input_type: string, requirement: optional, description: d, default: "\"\n: - {{ a }}"}
- {key: file, input_type: file, requirement: user_prompt, description: d}
response: {json_schema: {type: object, properties: {"{{ a }}": {description: "{{ a }}", maximum: 1.50}}}}
sub_recipes:
- {name: s, path: sub.yaml, values: {x: "{{ a }}"}}
`
	r := parse(t, text)
	before := written(r)
	got, err := r.Render(t.Context(), jsonwire.Pairs{{Name: "other", Value: "x"}, {Name: "a", Value: "v{{ w }}"}, {Name: "file", Value: filepath.Join(dir, "value.txt")}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "v{{ w }}" || got.Description != dir || *got.Instructions != "part of v{{ w }}, \"\"\n: - {{ a }}\" {{ not a template }}\n" {
		t.Errorf("rendered: %s", written(got))
	}
	if diff := cmp.Diff([]string{"V{{ W }}", "{{two words}}"}, got.Activities); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
	if schema := string(got.Response.JSONSchema); schema != `{"type":"object","properties":{"v{{ w }}":{"description":"v{{ w }}","maximum":1.50}}}` {
		t.Errorf("schema: %s", schema)
	}
	if got.SubRecipes[0].Path != filepath.Join(dir, "sub.yaml") || got.SubRecipes[0].Values[0].Value != "v{{ w }}" || got.Parameters[0].Description != "v{{ w }}" || *got.Parameters[1].Default != "\"\n: - v{{ w }}" {
		t.Errorf("rendered: %s", written(got))
	}
	if after := written(r); after != before {
		t.Errorf("rendering has changed the recipe:\n%s\nwas\n%s", after, before)
	}

	if _, err := r.Render(t.Context(), jsonwire.Pairs{{Name: "a", Value: "v"}}, dir); !errors.Is(err, recipe.ErrMissing) {
		t.Errorf("without a value: %v", err)
	}
	for name, text := range map[string]string{
		"undefined variable x":               `{title: "{{ x }}", description: d}`,
		"not below the directory of recipes": `{title: "{% include '../secret' %}", description: d}`,
		"Recipe parsing failed: Sub-recipe file does not exist: " + dir + "/nowhere.yaml": `{title: t, description: d, sub_recipes: [{name: s, path: nowhere.yaml}]}`,
		"parameter f: ": `{title: t, description: d, parameters: [{key: f, input_type: file, requirement: required, description: d}]}`,
	} {
		if _, err := parse(t, text).Render(t.Context(), jsonwire.Pairs{{Name: "f", Value: dir}}, dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %s", text, err, name)
		}
	}
}

func TestDeeplinks(t *testing.T) {
	r := parse(t, `{title: "t<ü>?~", description: d, prompt: p}`)
	link, json := deeplink(r), written(r)
	standard := base64.StdEncoding.EncodeToString([]byte(json))
	for _, link := range []string{link, standard, strings.NewReplacer("+", "%2B", "/", "%2f", "=", "%3D").Replace(standard)} {
		got, err := recipe.FromDeeplink(link)
		if err != nil || written(got) != json {
			t.Errorf("FromDeeplink(%s): %v", link, err)
		}
	}
	for _, link := range []string{"", "nope", "%ZZ", base64.RawURLEncoding.EncodeToString([]byte("{}")), base64.RawURLEncoding.EncodeToString([]byte("title: t")), link + "\n"} {
		if _, err := recipe.FromDeeplink(link); err == nil {
			t.Errorf("FromDeeplink(%q) succeeded", link)
		}
	}
}

func TestIDsOfPaths(t *testing.T) {
	for path, want := range map[string]string{"/a": "4d5e0570f59b4e45", "/tmp/r/config/recipes/demo.yaml": "a4c66c3e6ce65a54"} {
		if got := recipe.IDOf(path); got != want {
			t.Errorf("IDOf(%s) = %s, want %s", path, got, want)
		}
	}
}

func TestTheLibrary(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(root, name)
		testfile.Write(t, path, content)
		return path
	}
	const ok = "{title: t, description: d, prompt: p}"
	a := write("b/a.yaml", ok)
	write("b/none.yml", ok)
	write("b/other.yaml", "x: 1")
	write("b/deep/x.yaml", ok)
	c := write("a/c.json", `{"title":"t","description":"d"}`)
	if err := os.Symlink(filepath.Join(root, "b"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	library := &recipe.Library{Directories: func() []string {
		return []string{filepath.Join(root, "b"), filepath.Join(root, "link"), filepath.Join(root, "a"), filepath.Join(root, "nowhere")}
	}}
	if _, err := library.Get(recipe.IDOf(a)); err != nil {
		t.Errorf("Get before List: %v", err)
	}
	if diff := cmp.Diff([]string{c, a}, library.List()); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if _, err := library.Get("0123456789abcdef"); !errors.Is(err, recipe.ErrUnknown) {
		t.Errorf("Get of an unknown id: %v", err)
	}
	late := write("a/late.yaml", ok)
	if _, err := library.Get(recipe.IDOf(late)); err != nil {
		t.Errorf("Get of a recipe that has come later: %v", err)
	}
	testfile.Remove(t, late)
	if _, err := library.Get(recipe.IDOf(late)); err == nil || errors.Is(err, recipe.ErrUnknown) {
		t.Errorf("Get of a recipe whose file has gone: %v", err)
	}
}

// TestOnlyPlainFilesAreOpened checks that the server does not block on a pipe at the path of a recipe, or of a
// file that a recipe names.
func TestOnlyPlainFilesAreOpened(t *testing.T) {
	directory := t.TempDir()
	pipe := filepath.Join(directory, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, directory} {
		if _, err := recipe.ReadFile(path); err == nil || err.Error() != path+" is no plain file" {
			t.Errorf("%s: %v", path, err)
		}
	}
	library := &recipe.Library{Directories: func() []string { return []string{directory} }}
	if files := library.List(); len(files) > 0 {
		t.Errorf("the library has %v", files)
	}
}
