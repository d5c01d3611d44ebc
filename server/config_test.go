package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// startConfig starts a server, and returns the path of its config.yaml.
func startConfig(t *testing.T, env map[string]string) (r *rig, path string) {
	d := settings.Below(t.TempDir())
	r = start(t, server.Config{Directories: d, Env: func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}})
	return r, filepath.Join(d.Config, "config.yaml")
}

func TestSettingsAndSecretsAreSeparate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, path := startConfig(t, map[string]string{"HIDDEN": "1.50", "GOOSE_SERVER__SECRET_KEY": "canary"})
		for _, step := range []struct{ request, body, want string }{
			{"POST /config/upsert", `{"key":"k","value":{"b":1.50,"a":["no",null]},"is_secret":false}`, `"Upserted key k"`},
			{"POST /config/upsert", `{"key":"k","value":"abcdefghijklmnopqrstuvwxyz","is_secret":true}`, `"Upserted key k"`},
			{"POST /config/upsert", `{"key":"hidden","value":2,"is_secret":false}`, `"Upserted key hidden"`},
			{"POST /config/read", `{"key":"k","is_secret":false}`, `{"b":1.50,"a":["no",null]}`},
			{"POST /config/read", `{"key":"k","is_secret":true}`, `{"maskedValue":"abcdefgh` + strings.Repeat("*", 18) + `"}`},
			{"POST /config/read", `{"key":"hidden","is_secret":false}`, `1.50`},
			{"POST /config/read", `{"key":"hidden","is_secret":true}`, `{"maskedValue":"1.**"}`},
			{"POST /config/read", `{"key":"goose_server__secret_key","is_secret":true}`, `null`},
			{"POST /config/recover", `{}`, `"Config recovery completed. Recovered 2 keys: k, hidden"`},
			{"POST /config/remove", `{"key":"k","is_secret":false}`, `"Removed key k"`},
			{"POST /config/read", `{"key":"k","is_secret":false}`, `null`},
			{"POST /config/read", `{"key":"k","is_secret":true}`, `{"maskedValue":"abcdefgh` + strings.Repeat("*", 18) + `"}`},
		} {
			r.post(step.request, step.body).is(t, step.request+" "+step.body, 200, step.want)
		}
		r.get("GET /config").is(t, "GET /config", 200, `{"config":{"hidden":2}}`)
		same(t, "config.yaml", "hidden: 2\n", testfile.Text(t, path))
		same(t, "secrets.yaml", "k: abcdefghijklmnopqrstuvwxyz\n", testfile.Text(t, filepath.Join(filepath.Dir(path), "secrets.yaml")))
	})
}

func TestMasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := startConfig(t, nil)
		for value, want := range map[string]string{
			`"a"`: "*", `""`: "", `"abc"`: "a**", `"äöü☺"`: "äö**", `null`: "nu**", `[1, {"a": "b"}]`: `[1,{\"a*******`, `123456789012345678`: "12345678**********",
		} {
			r.post("POST /config/upsert", `{"key":"k","value":`+value+`,"is_secret":true}`).is(t, "upsert", 200, `"Upserted key k"`)
			r.post("POST /config/read", `{"key":"k","is_secret":true}`).is(t, value, 200, `{"maskedValue":"`+want+`"}`)
		}
	})
}

// TestFailuresAreLogged checks what clients do not learn: why a file is not read or written.
func TestFailuresAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, path := startConfig(t, nil)
		secrets := filepath.Join(filepath.Dir(path), "secrets.yaml")
		r.post("POST /config/read", `{"key":"k","is_secret":true}`) // the choice of the store is logged once
		testfile.Remove(t, path)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, secrets, "PASSWORD: *canary")
		testfile.Write(t, filepath.Join(filepath.Dir(path), "permission.yaml"), "\xff")
		for _, tc := range []struct {
			request, body string
			status        int
			answer, file  string
		}{
			{"GET /config", "", 422, "", path},
			{"POST /config/read", `{"key":"k","is_secret":false}`, 500, "", path},
			{"POST /config/read", `{"key":"k","is_secret":true}`, 500, "", secrets},
			{"POST /config/upsert", `{"key":"k","value":"canary","is_secret":true}`, 500, "", secrets},
			{"POST /config/remove", `{"key":"k","is_secret":true}`, 404, "", secrets},
			{"POST /config/recover", "", 500, "", path},
			{"POST /config/backup", "", 500, "", path},
			{"GET /config/validate", "", 500, "", path},
			{"POST /config/permissions", `{"tool_permissions":[]}`, 500, "", "permission.yaml"},
			{"POST /config/extensions", `{"name":"e","config":{"type":"builtin","name":"e"},"enabled":true}`, 200, `"Added extension e"`, path},
			{"DELETE /config/extensions/e", "", 200, `"Removed extension e"`, path},
			{"GET /config/extensions", "", 200, `{"extensions":[]}`, path},
		} {
			before := len(r.log.String())
			r.post(tc.request, tc.body).is(t, tc.request, tc.status, tc.answer)
			if said := r.log.String()[before:]; !strings.Contains(said, tc.file) || strings.Count(said, "\n") != 1 {
				t.Errorf("%s: the log has %q, want one line with %s", tc.request, said, tc.file)
			}
		}
		if strings.Contains(r.log.String(), "canary") {
			t.Errorf("the log has a secret:\n%s", r.log)
		}
	})
}

// TestExtensionsOfTheSettings checks that the answer is about the name of the request, and the key that of the config.
func TestExtensionsOfTheSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, path := startConfig(t, nil)
		testfile.Write(t, path, "extensions:\n  other: {enabled: true, type: builtin, name: My Ext}\n  todo: 5\n")
		add := func(name, config string) string {
			return r.post("POST /config/extensions", `{"name":"`+name+`","config":{"type":"builtin","name":"`+config+`"},"enabled":false}`).body
		}
		same(t, "a known name under another key", `"Updated extension my ext"`, add("my ext", "new"))
		same(t, "a key that is not a name", `"Added extension other"`, add("other", "new"))
		same(t, "an unreadable entry", `"Added extension todo"`, add("todo", "todo"))
		r.do("DELETE /config/extensions/n%20E%09w", secret).is(t, "remove", 200, `"Removed extension n E\tw"`)
		r.do("DELETE /config/extensions/a%2Fb", secret).is(t, "remove", 200, `"Removed extension a/b"`)
		r.do("DELETE /config/extensions/a/b", secret).is(t, "another path", 404, "")
		const want = "extensions:\n  other:\n    enabled: true\n    type: builtin\n    name: My Ext\n" +
			"  todo:\n    enabled: false\n    type: builtin\n    name: todo\n    description: \"\"\n    display_name: null\n    timeout: null\n    bundled: null\n    available_tools: []\n" +
			"  chatrecall:\n"
		if got := testfile.Text(t, path); !strings.HasPrefix(got, want) || strings.Contains(got, "new") {
			t.Errorf("config.yaml is\n%s\nwant\n%s", got, want)
		}
	})
}
