package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// A providerStep is a request and its answer.
type providerStep struct {
	request, body string
	status        int
	want          string
}

func (r *rig) steps(t *testing.T, steps ...providerStep) {
	t.Helper()
	for _, s := range steps {
		r.post(s.request, s.body).is(t, s.request+" "+s.body, s.status, s.want)
	}
}

func TestProvidersAreCheckedAndChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, path := startConfig(t, map[string]string{"XAI_API_KEY": "12345"})
		testfile.Write(t, path, "a: 1\nGOOSE_MODEL: old\n")
		r.steps(t,
			providerStep{"POST /config/check_provider", `{"provider":"ollama"}`, 200, ""},
			providerStep{"POST /config/check_provider", `{"provider":"venice"}`, 400, "Configuration value not found: VENICE_API_KEY"},
			providerStep{"POST /config/check_provider", `{"provider":"xai"}`, 400, "Configuration value is not a string: XAI_API_KEY"},
			providerStep{"POST /config/check_provider", `{"provider":5}`, 422,
				"Failed to deserialize the JSON body into the target type: provider: invalid type: number, expected a string at line 1 column 13"},
			providerStep{"POST /config/set_provider", `{"provider":"nobody","model":"m"}`, 400, "Unknown provider: nobody"},
		)
		same(t, "config.yaml", "a: 1\nGOOSE_MODEL: old\n", testfile.Text(t, path))
		r.steps(t, providerStep{"POST /config/set_provider", `{"provider":"ollama","model":"not \"checked\""}`, 200, ""})
		same(t, "config.yaml", "a: 1\nGOOSE_MODEL: \"not \\\"checked\\\"\"\nGOOSE_PROVIDER: ollama\n", testfile.Text(t, path))
		secrets := filepath.Join(filepath.Dir(path), "secrets.yaml")
		testfile.Write(t, secrets, "VENICE_API_KEY: *canary")
		r.steps(t,
			providerStep{"POST /config/check_provider", `{"provider":"venice"}`, 400, "Internal error"},
			providerStep{"POST /config/set_provider", `{"provider":"venice","model":"m"}`, 400, "Internal error"},
		)
		r.get("GET /config/providers/venice/models").is(t, "models", 500, "")
		r.get("GET /config/providers/nobody/models").is(t, "models", 400, "")
		if all := r.get("GET /config/providers"); all.status != 200 || !strings.HasPrefix(all.body, `[{"name":"anthropic","metadata":{"name":"anthropic",`) {
			t.Errorf("providers: %d %.200s", all.status, all.body)
		}
		if strings.Contains(r.log.String(), "canary") || !strings.Contains(r.log.String(), "key=VENICE_API_KEY") {
			t.Errorf("the log has\n%s", r.log)
		}
	})
}

func TestCustomProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, path := startConfig(t, map[string]string{})
		dir := filepath.Join(filepath.Dir(path), "custom_providers")
		secrets := filepath.Join(filepath.Dir(path), "secrets.yaml")
		const custom = `{"engine":"openai_compatible","display_name":"My One","api_url":"http://h/v1","api_key":"canary-1","models":["b","a"],"headers":{"X-B":"2","X-A":"1"}}`
		const models = `"models":[{"name":"b","context_limit":128000,"input_token_cost":null,"output_token_cost":null,"currency":null,"supports_cache_control":null},` +
			`{"name":"a","context_limit":128000,"input_token_cost":null,"output_token_cost":null,"currency":null,"supports_cache_control":null}]`
		r.steps(t,
			providerStep{"POST /config/custom-providers", custom, 200, `"Custom provider added - ID: custom_my_one"`},
			providerStep{"POST /config/custom-providers", strings.Replace(custom, "My", "a/", 1), 500, ""},
			providerStep{"POST /config/check_provider", `{"provider":"custom_my_one"}`, 200, ""},
		)
		r.get("GET /config/providers/custom_my_one/models").is(t, "models", 200, `["b","a"]`)
		r.get("GET /config/custom-providers/custom_my_one").is(t, "definition", 200,
			`{"config":{"name":"custom_my_one","engine":"openai","display_name":"My One","description":"Custom My One provider","api_key_env":"CUSTOM_MY_ONE_API_KEY",`+
				`"base_url":"http://h/v1",`+models+`,"headers":{"X-B":"2","X-A":"1"},"timeout_seconds":null,"supports_streaming":null},"is_editable":true}`)
		same(t, "secrets.yaml", "CUSTOM_MY_ONE_API_KEY: canary-1\n", testfile.Text(t, secrets))
		r.steps(t,
			providerStep{"PUT /config/custom-providers/custom_my_one", strings.Replace(custom, "canary-1", "canary-2", 1), 200, `"Updated custom provider: custom_my_one"`},
			providerStep{"PUT /config/custom-providers/none", custom, 500, ""},
			providerStep{"PUT /config/custom-providers/%2E%2E%2Fconfig", custom, 500, ""},
		)
		same(t, "secrets.yaml", "CUSTOM_MY_ONE_API_KEY: canary-2\n", testfile.Text(t, secrets))
		testfile.Write(t, filepath.Join(dir, "x.json"), "broken canary")
		r.get("GET /config/custom-providers/x").is(t, "broken", 404, "")
		for _, id := range []string{"custom_my_one", "custom_my_one", "x"} {
			r.get("DELETE /config/custom-providers/"+id).is(t, "remove", 200, `"Removed custom provider: `+id+`"`)
		}
		r.get("DELETE /config/custom-providers/a%2Fb").is(t, "remove", 500, "")
		same(t, "secrets.yaml", "{}\n", testfile.Text(t, secrets))
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("there are %v, %v", left, err)
		}
		if strings.Contains(r.log.String(), "canary") {
			t.Errorf("the log has a key:\n%s", r.log)
		}
	})
}

func TestProvidersAreAskedForTheirModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, a llmtest.Asked) {
			switch a.Header.Get("Authorization") {
			case "Bearer good":
				fmt.Fprint(w, `{"data":[{"id":"b"},{"id":"a"}]}`)
			case "Bearer often":
				w.WriteHeader(429)
			default:
				w.WriteHeader(401)
			}
		})
		env := map[string]string{"OPENAI_API_KEY": "good", "GOOSE_PROVIDER_SKIP_BACKOFF": "true"}
		r := start(t, server.Config{Directories: settings.Below(t.TempDir()), Models: transport, Env: func(name string) (string, bool) {
			value, set := env[name]
			return value, set
		}})
		r.get("GET /config/providers/openai/models").is(t, "good", 200, `["a","b"]`)
		env["OPENAI_API_KEY"] = "often"
		r.get("GET /config/providers/openai/models").is(t, "too often", 429, "")
		env["OPENAI_API_KEY"] = "bad"
		r.get("GET /config/providers/openai/models").is(t, "bad", 400, "")
		r.get("GET /config/providers/xai/models").is(t, "not configured", 400, "")
		r.steps(t,
			providerStep{"POST /config/detect-provider", `{"api_key":" good "}`, 200, `{"provider_name":"openai","models":["a","b"]}`},
			providerStep{"POST /config/detect-provider", `{"api_key":"bad"}`, 404, ""},
			providerStep{"POST /config/detect-provider", `{"api_key":""}`, 404, ""},
		)
	})
}
