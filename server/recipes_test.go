package server_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/settings"
)

const greeting = `{"version":"1.0.0","title":"t","description":"d","instructions":"Greet {{ who }}","parameters":[{"key":"who","input_type":"string","requirement":"required","description":""}]}`

func TestStartChoosesItsRecipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		d := settings.Below(root)
		r := start(t, server.Config{Directories: d, Directory: filepath.Join(root, "nowhere")})
		if err := os.Mkdir(d.Recipes(), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(d.Recipes(), "saved.yaml")
		testfile.Write(t, path, "title: saved\ndescription: d\nprompt: p\n")
		link := base64.RawURLEncoding.EncodeToString([]byte(`{"title":"linked","description":"d","prompt":"p"}`))
		id := recipe.IDOf(path)
		for _, tc := range []struct {
			name, body string
			status     int
			want       string // the title, or the body
		}{
			{"a recipe", `"recipe":` + greeting, 200, "t"},
			{"an id before a recipe", `"recipe":` + greeting + `,"recipe_id":"` + id + `"`, 200, "saved"},
			{"a deeplink before an id", `"recipe_id":"x","recipe_deeplink":"` + link + `"`, 200, "linked"},
			{"a bad deeplink", `"recipe":` + greeting + `,"recipe_deeplink":"nope"`, 400, `{"message":"Failed to decode recipe deeplink"}`},
			{"an unknown id", `"recipe_id":"<x>"`, 404, `{"message":"Recipe not found: <x>"}`},
			{"nothing to do", `"recipe":{"title":"t","description":"d","prompt":" "}`, 400, "{\"message\":\"Recipe must specify at least one of `instructions` or `prompt`.\"}"},
			{"undeclared parameters", `"recipe":{"title":"t","description":"d","prompt":"{{ b }}{{ a }}"}`, 400, `{"message":"Missing definitions for parameters in the recipe file: a, b."}`},
		} {
			a := r.post("POST /agent/start", `{"working_dir":"/w",`+tc.body+`}`)
			got := a.body
			if a.status == 200 {
				got = titleOf(t, a.body)
			}
			if a.status != tc.status || got != tc.want {
				t.Errorf("%s: %d %s; want %d %s", tc.name, a.status, a.body, tc.status, tc.want)
			}
		}
		r.get("GET /sessions/insights").is(t, "what was refused has made no sessions", 200, `{"totalSessions":3,"totalTokens":0}`)
		if a := r.get("GET /sessions/20000101_1"); !strings.Contains(a.body, `"recipe":`+greeting+`,`) {
			t.Errorf("the recipe is not stored as it was: %s", a.body)
		}
		testfile.Write(t, path, "[")
		a := r.post("POST /agent/start", `{"working_dir":"/w","recipe_id":"`+id+`"}`)
		if a.status != 500 || !strings.HasPrefix(a.body, `{"message":"Failed to load recipe: `) {
			t.Errorf("a file that is unreadable now: %d %s", a.status, a.body)
		}
	})
}

func titleOf(t *testing.T, session string) string {
	t.Helper()
	_, rest, found := strings.Cut(session, `"recipe":{"version":"1.0.0","title":"`)
	title, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Errorf("no recipe in %s", session)
	}
	return title
}

func TestValuesAreFilledIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		plain := r.newSession("/w")
		id := field(t, r.post("POST /agent/start", `{"working_dir":"/w","recipe":`+greeting+`}`).body, "id")
		put := func(id, values string) answer {
			return r.json("PUT /sessions/"+id+"/user_recipe_values", `{"userRecipeValues":`+values+`}`, secret)
		}
		put("nope", `{}`).is(t, "no session", 500, `{"message":"Session not found"}`)
		put(plain, `{"a":"b"}`).is(t, "no recipe", 404, `{"message":"Recipe not found"}`)
		if a := r.get("GET /sessions/" + plain); !strings.Contains(a.body, `"user_recipe_values":{"a":"b"}`) {
			t.Errorf("the values are not stored: %s", a.body)
		}
		put(id, `{"other":"x"}`).is(t, "a value is missing", 400, `{"message":"Missing required parameters"}`)
		put(id, `{"who":5}`).is(t, "no string", 422, "Failed to deserialize the JSON body into the target type: userRecipeValues.who: invalid type: number, expected a string at line 1 column 28")
		r.post("POST /agent/update_from_session", `{"session_id":"`+id+`"}`).is(t, "update without a value", 200, "")
		put(id, `{"z":"","who":"{{ who }}\n"}`).is(t, "values", 200, `{"recipe":`+strings.Replace(greeting, "Greet {{ who }}", `Greet {{ who }}\n`, 1)+`}`)
		if a := r.get("GET /sessions/" + id); !strings.Contains(a.body, `"recipe":`+greeting+`,"user_recipe_values":{"z":"","who":"{{ who }}\n"}`) {
			t.Errorf("stored: %s", a.body)
		}
		r.post("POST /agent/update_from_session", `{"session_id":"`+id+`"}`).is(t, "update", 200, "")
		r.post("POST /agent/update_from_session", `{"session_id":"`+plain+`"}`).is(t, "update without a recipe", 200, "")
		r.post("POST /agent/update_from_session", `{"session_id":"nope"}`).is(t, "update of nothing", 500, `{"message":"Failed to get session: Session not found"}`)
	})
}

func TestATemplateThatCannotBeRenderedIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		const broken = `{"title":"t","description":"d","prompt":"{% include 'nowhere.txt' %}"}`
		id := field(t, r.post("POST /agent/start", `{"working_dir":"/w","recipe":`+broken+`}`).body, "id")
		for _, a := range []answer{
			r.post("POST /agent/update_from_session", `{"session_id":"`+id+`"}`),
			r.json("PUT /sessions/"+id+"/user_recipe_values", `{"userRecipeValues":{}}`, secret),
		} {
			if a.status != 500 || !strings.HasPrefix(a.body, `{"message":"template \"nowhere.txt\": `) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
	})
}
