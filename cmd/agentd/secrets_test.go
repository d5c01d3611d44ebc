//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// canary is in every secret of [TestSecretsStaySecret], after the characters that a mask shows.
const canary = "CANARY"

// A vault is where a server has its secrets.
type vault struct {
	env []string
	// store replaces all that is stored by a text, which need not be valid. It is nil if nothing can be stored.
	store func(t *testing.T, text string)
	file  string // that has all secrets that are stored
}

// vaults return the vaults of a server with a directory, which get the secrets.
var vaults = map[string]func(t *testing.T, home string, secrets map[string]string) vault{
	"file": func(_ *testing.T, home string, _ map[string]string) vault {
		path := filepath.Join(home, "config", "secrets.yaml")
		return vault{store: func(t *testing.T, text string) { testfile.Write(t, path, text) }, file: path}
	},
	"environment": func(_ *testing.T, home string, secrets map[string]string) (v vault) {
		v.file = filepath.Join(home, "config", "secrets.yaml") // of providers that are defined later
		for key, value := range secrets {
			v.env = append(v.env, key+"="+value)
		}
		return v
	},
	"keyring": func(t *testing.T, home string, _ map[string]string) vault {
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("NOT RUN: the keyring is a program for Node, which is not installed")
		}
		path, program := filepath.Join(home, "keyring.json"), filepath.Join(home, "servers", "keyring.mjs")
		testfile.Write(t, program, testfile.Read(t, filepath.FromSlash("../../scenarios/config/keyring/keyring.mjs")))
		store := func(t *testing.T, text string) {
			item := object{"attributes": object{"service": "goose", "username": "secrets", "target": "default"}, "secret": text}
			state, err := json.Marshal(object{"items": []object{item}})
			if err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, path, state)
		}
		store(t, "{}")
		return vault{env: []string{"DBUS_SESSION_BUS_ADDRESS=unixexec:path=" + node + ",argv1=" + program}, store: store, file: path}
	},
}

// TestSecretsStaySecret uses secrets for models, lists of models, definitions and extensions, and has the operations fail
// that read them. No answer, log, other file or diagnostics may have one (decisions G53, G59).
func TestSecretsStaySecret(t *testing.T) {
	for name, vaultOf := range vaults {
		t.Run(name, func(t *testing.T) {
			models := &thievingModels{}
			model := httptest.NewServer(models)
			defer model.Close()
			home := t.TempDir()
			keys := keysOf(t, model.URL)
			v := vaultOf(t, home, keys.secrets)
			cmd := agentd(t, home, model.URL, append(append(v.env, keys.settings...), "GOOSE_PRICING_URL="+model.URL+pricesPath+"?token="+canary)...)
			cmd.Env = slices.DeleteFunc(cmd.Env, func(variable string) bool { return variable == "OPENAI_API_KEY=sk-test" })
			testfile.Write(t, filepath.Join(home, "config", "custom_providers", "groq.json"),
				`{"name":"groq","engine":"openai","display_name":"G","api_key_env":"GROQ_API_KEY","base_url":"`+model.URL+`/v1/chat/completions","models":[]}`)
			s, _ := startCommand(t, home, cmd)
			api := s.api()
			defer api.close()
			answers := &answers{api: api}
			if v.store != nil {
				answers.ofStoring(t, keys.secrets)
			}
			session := answers.ofAgents(t)
			answers.ofDefinitions(t, model.URL, session)
			answers.ofProviders(t, models, keys.providers)
			answers.ofTheRest(t, session)
			if !strings.Contains(testfile.Text(t, v.file), "custom-2-"+canary) {
				t.Errorf("%s does not have the secrets", v.file)
			}
			if v.store != nil {
				answers.ofBrokenSecrets(t, v.store, session)
			}
			testfile.Remove(t, v.file)
			s.kill()
			for _, key := range []string{"sk-12345-", "custom-1-", "custom-2-", "detected-"} {
				if !models.saw(key + canary) {
					t.Errorf("the secret %s%s was not used", key, canary)
				}
			}
			answers.add(s.stderr.String())
			answers.add(fmt.Sprint(contents(t, home)))
			if all := answers.all.String(); strings.Contains(all, canary) || len(all) < 1000 {
				at := strings.Index(all, canary)
				t.Errorf("a secret is in %d bytes of answers, logs and files: ...%s", len(all), all[max(at-300, 0):min(at+100, len(all))])
			}
		})
	}
}

// pricesPath is the path of a list of prices.
const pricesPath = "/prices"

// thievingModels are servers of models that put the key of a request into each list of models, and each error about one.
// Into their list of prices they put all header fields.
type thievingModels struct {
	status atomic.Int64 // of lists

	mu   sync.Mutex
	keys []string
}

func (m *thievingModels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
	m.mu.Lock()
	m.keys = append(m.keys, key)
	m.mu.Unlock()
	if r.Method == "POST" {
		scripted(w, r)
		return
	}
	if r.URL.Path == pricesPath {
		fmt.Fprintf(w, `{"data":[{"id":"openai/gpt-4o","pricing":{"prompt":"1","completion":"1"}},{"id":%q,"pricing":{"prompt":"1","completion":"1"}}]}`,
			"thief/"+fmt.Sprint(r.Header))
		return
	}
	w.WriteHeader(int(m.status.Load()))
	fmt.Fprintf(w, `{"error":{"message":"the key %s is wrong","code":%q}}`, key, key)
}

func (m *thievingModels) saw(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.keys, func(k string) bool { return strings.HasSuffix(k, key) })
}

// keys are what providers need to be configured.
type keys struct {
	providers []string
	secrets   map[string]string
	settings  []string // as variables
}

// keysOf asks a server for the keys of all providers. Those that are addresses lead to the given one.
func keysOf(t *testing.T, address string) (all keys) {
	t.Helper()
	s, _ := startServer(t, t.TempDir(), "http://127.0.0.1:1")
	defer s.kill()
	api := s.api()
	defer api.close()
	answer, err := api.do("GET", "/config/providers", nil)
	var list []struct {
		Name     string
		Metadata struct {
			ConfigKeys []struct {
				Name    string
				Secret  bool
				Default string
			} `json:"config_keys"`
		}
	}
	if err == nil {
		err = json.Unmarshal(answer, &list)
	}
	if err != nil || len(list) < 20 {
		t.Fatalf("%d providers, %v", len(list), err)
	}
	all.secrets = map[string]string{"TOKEN": "12345678" + canary}
	for _, p := range list {
		all.providers = append(all.providers, p.Name)
		for _, k := range p.Metadata.ConfigKeys {
			switch {
			case k.Secret:
				all.secrets[k.Name] = "sk-12345-" + canary
			case strings.HasPrefix(k.Default, "http") || strings.HasSuffix(k.Name, "_HOST"):
				all.settings = append(all.settings, k.Name+"="+address)
			}
		}
	}
	return all
}

// answers are everything that a server has said.
type answers struct {
	api *api
	all strings.Builder
}

func (a *answers) add(text string) { a.all.WriteString(text + "\n") }

// of sends a request and returns the body of its answer, whatever the status.
func (a *answers) of(t *testing.T, method, path string, body any) string {
	t.Helper()
	answer, err := a.api.do(method, path, body)
	text := string(answer)
	if err != nil {
		text = err.Error()
	}
	a.add(text)
	return text
}

// ofStoring stores secrets.
func (a *answers) ofStoring(t *testing.T, secrets map[string]string) {
	t.Helper()
	all := map[string]any{"an object": object{"password": "x" + canary}, "a list": []string{"xxxxxxxx", canary}}
	for key, value := range secrets {
		all[key] = value
	}
	for key, value := range all {
		a.of(t, "POST", "/config/upsert", upsert(key, value, true))
		a.of(t, "POST", "/config/read", object{"key": key, "is_secret": false})
	}
}

// ofAgents uses the secrets of a model and of extensions.
func (a *answers) ofAgents(t *testing.T) (session string) {
	t.Helper()
	var started struct{ ID string }
	if err := json.Unmarshal([]byte(a.of(t, "POST", "/agent/start", object{"working_dir": "/"})), &started); err != nil {
		t.Fatal(err)
	}
	session = started.ID
	for _, key := range []string{"TOKEN", "OPENAI_API_KEY"} {
		a.of(t, "POST", "/config/read", object{"key": key, "is_secret": true})
	}
	a.of(t, "POST", "/agent/update_provider", object{"session_id": session, "provider": "openai", "model": "gpt-4o"})
	a.of(t, "POST", "/reply", object{"session_id": session, "messages": []object{message("user", "ask-plain-0123456789abcdef")}})
	// An extension that prints its secret and ends.
	a.of(t, "POST", "/agent/add_extension", object{"session_id": session, "config": object{
		"type": "stdio", "name": "x", "cmd": "/bin/sh", "args": []string{"-c", "echo token $TOKEN >&2"}, "env_keys": []string{"TOKEN"},
	}})
	a.of(t, "POST", "/agent/add_extension", object{"session_id": session, "config": object{
		"type": "streamable_http", "name": "y", "description": "", "uri": "http://127.0.0.1:1/$TOKEN", "env_keys": []string{"TOKEN"}, "headers": object{"X": "$TOKEN"},
	}})
	return session
}

// ofDefinitions defines a provider and changes it, with wrong requests too, and uses it each time (GA 10.19).
func (a *answers) ofDefinitions(t *testing.T, model, session string) {
	t.Helper()
	put := func(method, id string, key any) {
		d := defined("One", "m")
		d["api_url"], d["api_key"] = model, key
		a.of(t, method, "/config/custom-providers"+id, d)
		a.of(t, "POST", "/agent/update_provider", object{"session_id": session, "provider": "custom_one", "model": "m"})
		a.of(t, "POST", "/reply", object{"session_id": session, "messages": []object{message("user", "ask-plain-0123456789abcdef")}})
	}
	put("POST", "", "custom-1-"+canary)
	put("POST", "", []string{canary})
	put("PUT", "/custom_one", "custom-2-"+canary)
	put("PUT", "/custom_one", object{canary: canary})
	put("PUT", "/groq", "sk-12345-"+canary)
}

// ofProviders uses the other operations on providers (GA 10.14 to 10.18, 16.2), while lists of models fail in several ways.
func (a *answers) ofProviders(t *testing.T, models *thievingModels, providers []string) {
	t.Helper()
	for _, status := range []int64{200, 401, 429, 500} {
		models.status.Store(status)
		a.of(t, "POST", "/config/detect-provider", object{"api_key": "detected-" + canary})
		for _, provider := range providers {
			a.of(t, "GET", "/config/providers/"+provider+"/models", nil)
		}
	}
	for _, key := range []any{canary + "\n" + canary, canary + "é", []string{canary}, 5} {
		a.of(t, "POST", "/config/detect-provider", object{"api_key": key})
	}
	for _, provider := range slices.Concat(providers, []string{"custom_one", "none"}) {
		a.of(t, "POST", "/config/check_provider", object{"provider": provider})
		a.of(t, "POST", "/config/set_provider", object{"provider": provider, "model": "m"})
		a.of(t, "GET", "/config/custom-providers/"+provider, nil)
	}
	a.of(t, "GET", "/config/providers", nil)
	for _, configured := range []bool{false, true} {
		prices := a.of(t, "POST", "/config/pricing", object{"configured_only": configured})
		if !strings.Contains(prices, `"openai"`) || strings.Contains(prices, `"thief"`) == configured {
			t.Errorf("the prices of configured providers only (%t) are %s", configured, prices)
		}
	}
	a.of(t, "POST", "/config/pricing", object{"configured_only": canary})
}

// ofTheRest uses the operations that show settings, and diagnostics.
func (a *answers) ofTheRest(t *testing.T, session string) {
	t.Helper()
	for _, path := range []string{"/config", "/config/validate", "/config/extensions", "/config/slash_commands", "/sessions", "/sessions/" + session, "/sessions/" + session + "/export"} {
		a.of(t, "GET", path, nil)
	}
	for _, path := range []string{"/config/recover", "/config/backup", "/config/init"} {
		a.of(t, "POST", path, nil)
	}
	_, diagnostics := testfile.Unzip(t, a.of(t, "GET", "/diagnostics/"+session, nil))
	a.add(fmt.Sprint(diagnostics))
	a.of(t, "POST", "/config/remove", object{"key": "TOKEN", "is_secret": true})
}

// ofBrokenSecrets breaks the stored secrets in several ways, and uses them each time.
func (a *answers) ofBrokenSecrets(t *testing.T, store func(*testing.T, string), session string) {
	t.Helper()
	for _, broken := range []string{"TOKEN: *" + canary, "- " + canary, canary + ": 1\n" + canary + ": 2\n", "TOKEN: \"" + canary, `{"TOKEN":"` + canary, `["` + canary + `"]`} {
		store(t, broken)
		a.of(t, "POST", "/config/read", object{"key": "TOKEN", "is_secret": true})
		a.of(t, "POST", "/config/upsert", upsert("TOKEN", canary, true))
		a.of(t, "POST", "/config/remove", object{"key": "TOKEN", "is_secret": true})
		a.of(t, "POST", "/agent/update_provider", object{"session_id": session, "provider": "openai", "model": "gpt-4o"})
		a.of(t, "GET", "/config/providers", nil)
		a.of(t, "GET", "/config/providers/openai/models", nil)
		a.of(t, "POST", "/config/pricing", object{"configured_only": true})
		a.of(t, "POST", "/config/check_provider", object{"provider": "openai"})
		a.of(t, "POST", "/config/set_provider", object{"provider": "openai", "model": "m"})
		broken := defined("Two")
		broken["api_key"] = canary
		a.of(t, "POST", "/config/custom-providers", broken)
		a.of(t, "PUT", "/config/custom-providers/custom_one", broken)
		a.of(t, "DELETE", "/config/custom-providers/custom_one", nil)
	}
}
