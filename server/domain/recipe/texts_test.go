package recipe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// TestRetriesWithoutChecks checks that zeros in the retry of a file or link are accepted by the parser and rejected by
// the validation (decision G6).
func TestRetriesWithoutChecks(t *testing.T) {
	for retry, want := range map[string]string{
		"{max_retries: 0, checks: []}":                                                          "max_retries must be greater than 0",
		"{max_retries: 1, checks: [], timeout_seconds: 0}":                                      "timeout_seconds must be greater than 0 if specified",
		"{max_retries: 1, checks: [], timeout_seconds: 1, on_failure_timeout_seconds: 0}":       "on_failure_timeout_seconds must be greater than 0 if specified",
		"{max_retries: 1, checks: [], timeout_seconds: null, on_failure_timeout_seconds: null}": "",
	} {
		r := parse(t, "{title: t, description: d, prompt: p, retry: "+retry+"}")
		linked, err := recipe.FromDeeplink(deeplink(r))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []recipe.Recipe{r, linked} {
			if err := r.Validate(t.Context()); want == "" && err != nil || want != "" && (err == nil || err.Error() != "Invalid retry configuration: "+want) {
				t.Errorf("%s: %v", retry, err)
			}
		}
	}
}

// TestKeysAreTemplates checks rendered keys. If two become equal, the last value takes the first place.
func TestKeysAreTemplates(t *testing.T) {
	r := parse(t, `
version: "{{ a }}"
title: t
description: d
prompt: "{{ recipe_dir }}"
extensions: [{type: sse, name: n, uri: u, envs: {"{{ a }}": "1", b: "2", v: "3"}}]
retry: {max_retries: 1, checks: [{type: shell, command: "{{ a }}"}], on_failure: "{{ a }}"}
response: {json_schema: {"{{ a }}": {"\"{{ a }}\\": 1}, v: 2}}
parameters: [{key: a, input_type: string, requirement: required, description: d}]
`)
	if err := r.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := r.Render(t.Context(), jsonwire.Pairs{{Name: "a", Value: "v"}}, "/r")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"version":"v"`, `"prompt":"/r"`, `"envs":{"v":"3","b":"2"}`, `"command":"v"`, `"on_failure":"v"`, `"json_schema":{"v":2}`} {
		if !strings.Contains(written(got), want) {
			t.Errorf("%s is not in %s", want, written(got))
		}
	}
}

// TestIncludesStayInTheirDirectory checks that links are followed unless they lead out of the directory.
func TestIncludesStayInTheirDirectory(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "recipes")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{filepath.Join(outer, "secret"): "secret", filepath.Join(dir, "part"): "part"} {
		testfile.Write(t, path, content)
	}
	for name, to := range map[string]string{"in": "part", "absolute": filepath.Join(dir, "part"), "out": "../secret", "up": "..", "loop": "loop", "../recipes-link": "recipes"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "part"): "", "part": "part", "in": "part", "absolute": "part", "../secret": "", "out": "", "up/secret": "", "up/recipes/part": "part", "../recipes/part": "part", "loop": "", ".": "", "nowhere": "",
	} {
		for _, dir := range []string{dir, filepath.Join(outer, "recipes-link")} {
			got, err := parse(t, `{title: "{% include '`+name+`' %}", description: d}`).Render(t.Context(), nil, dir)
			if got.Title != want || (err == nil) != (want != "") {
				t.Errorf("%s: %q, %v", name, got.Title, err)
			}
		}
	}
}

func TestRenderingEndsWithItsContext(t *testing.T) {
	gone := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	r := parse(t, `{title: "{% set l = 'aaaaaaaaaa'|replace('a', 'aaaaaaaaaa')|split('') %}{% for a in l %}{% for b in l %}{% endfor %}{% endfor %}", description: d, prompt: p}`)
	if _, err := r.Render(ctx, nil, "/r"); !errors.Is(err, gone) {
		t.Errorf("Render: %v", err)
	}
	if err := r.Validate(ctx); !errors.Is(err, gone) {
		t.Errorf("Validate: %v", err)
	}
}

// deepRecipe returns a recipe with a schema of the given depth. Each level has two keys that become equal when
// rendered.
func deepRecipe(t testing.TB, levels int) recipe.Recipe {
	t.Helper()
	schema := strings.Repeat(`{"v":0,"{{ a }}":`, levels) + `"{{ a }}"` + strings.Repeat(`}`, levels)
	r, err := decode.Text([]byte(`{"title":"t","description":"d","response":{"json_schema":`+schema+`},`+
		`"parameters":[{"key":"a","input_type":"string","requirement":"required","description":"d"}]}`), recipe.Decode)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRenderingDeepSchemasIsLinear checks that twice as many levels take about twice the memory to render, and not
// four times.
func TestRenderingDeepSchemasIsLinear(t *testing.T) {
	allocated := func(levels int) uint64 {
		r := deepRecipe(t, levels)
		var rendered recipe.Recipe
		var err error
		bytes := ratio.Allocated(func() { rendered, err = r.Render(t.Context(), jsonwire.Pairs{{Name: "a", Value: "v"}}, "/r") })
		if want := strings.Repeat(`{"v":`, levels) + `"v"` + strings.Repeat(`}`, levels); err != nil || string(rendered.Response.JSONSchema) != want {
			t.Fatalf("%d levels: %v, %.60s", levels, err, rendered.Response.JSONSchema)
		}
		return bytes
	}
	if few, many := allocated(2000), allocated(8000); many > 8*few {
		t.Errorf("%d bytes became %d", few, many)
	}
}

func BenchmarkRenderDeepSchema(b *testing.B) {
	for _, levels := range []int{4000, 8000} {
		b.Run(fmt.Sprint(levels), func(b *testing.B) {
			r := deepRecipe(b, levels)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Render(b.Context(), jsonwire.Pairs{{Name: "a", Value: "v"}}, "/r"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
