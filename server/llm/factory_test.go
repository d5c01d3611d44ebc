package llm_test

import (
	"maps"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// TestWhereRequestsGo checks decisions M5, M6 and M48.
func TestWhereRequestsGo(t *testing.T) {
	keys := settings{"OPENAI_API_KEY": `"k"`, "ANTHROPIC_API_KEY": `"k"`, "GROQ_API_KEY": `"g"`, "CUSTOM_X_API_KEY": `""`}
	for _, tc := range []struct {
		name, provider, file string
		settings             settings
		url                  string
		header               map[string]string
		body                 string
	}{
		{"OpenAI's default", "openai", "", settings{}, "https://api.openai.com/v1/chat/completions", map[string]string{"Authorization": "Bearer k"}, streamed},
		{"OpenAI's settings", "openai", "", settings{
			"OPENAI_HOST": `"http://h:1//"`, "OPENAI_BASE_PATH": `"/a/b"`, "OPENAI_ORGANIZATION": `"o"`, "OPENAI_PROJECT": `"p"`,
			"OPENAI_CUSTOM_HEADERS": `" A = b , C=d=e,bad,=worse"`,
		}, "http://h:1/a/b", map[string]string{"OpenAI-Organization": "o", "OpenAI-Project": "p", "A": "b", "C": "d=e"}, streamed},
		{"Anthropic's default", "anthropic", "", settings{}, "https://api.anthropic.com/v1/messages", map[string]string{"X-Api-Key": "k", "Anthropic-Version": "2023-06-01", "Authorization": ""}, ""},
		{"Ollama's default", "ollama", "", settings{}, "http://localhost:11434/v1/chat/completions", map[string]string{"Authorization": ""}, streamed},
		{"Ollama with a port", "ollama", "", settings{"OLLAMA_HOST": `"h:1"`}, "http://h:1/v1/chat/completions", nil, streamed},
		{"Ollama with TLS", "ollama", "", settings{"OLLAMA_HOST": `"https://h"`}, "https://h/v1/chat/completions", nil, streamed},
		{"a bundled one", "groq", "", settings{}, "https://api.groq.com/openai/v1/chat/completions", map[string]string{"Authorization": "Bearer g"}, streamed},
		{"a custom one", "custom_x", `{"name":"custom_x","display_name":"X","models":[],"engine":"openai","api_key_env":"CUSTOM_X_API_KEY","base_url":"http://h:1","headers":{"A":"b"},"supports_streaming":false}`,
			settings{}, "http://h:1/v1/chat/completions", map[string]string{"A": "b", "Authorization": ""}, `{"model":"m","messages":[]}`},
		{"a custom one with a path", "custom_x", `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"GROQ_API_KEY","base_url":"http://h:1/v9/chat"}`,
			settings{}, "http://h:1/v9/chat", map[string]string{"Authorization": "Bearer g"}, streamed},
		{"a custom one of Anthropic's", "custom_x", `{"name":"x","display_name":"X","models":[],"engine":"anthropic","api_key_env":"GROQ_API_KEY","base_url":"http://h:1/a/"}`,
			settings{}, "http://h:1/a/v1/messages", map[string]string{"X-Api-Key": "g"}, ""},
		{"a custom one of Ollama's", "custom_x", `{"name":"x","display_name":"X","models":[],"engine":"ollama","api_key_env":"NO_KEY","base_url":"http://h:1"}`,
			settings{}, "http://h:1/v1/chat/completions", map[string]string{"Authorization": ""}, streamed},
		{"a custom one without a key", "custom_x", `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"","base_url":"http://h:1/?q=1"}`,
			settings{}, "http://h:1/v1/chat/completions", map[string]string{"Authorization": ""}, streamed},
		{"a file wins over what is bundled", "groq", `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"GROQ_API_KEY","base_url":"http://h:2"}`,
			settings{}, "http://h:2/v1/chat/completions", nil, streamed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			model, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { llmtest.Whole(w, "x") })
			custom := t.TempDir()
			maps.Copy(tc.settings, keys)
			f := &llm.Factory{Settings: tc.settings, Env: variables(nil).lookup, Definitions: definition.NewStore(custom), Transport: transport}
			if tc.file != "" {
				testfile.Write(t, filepath.Join(custom, tc.provider+".json"), tc.file)
			}
			p, err := f.New(tc.provider, llm.ModelConfig{ModelName: "m"})
			if err != nil {
				t.Fatal(err)
			}
			for range p.Answer(t.Context(), llm.Request{}) {
			}
			asked := model.Asked()[0]
			if asked.URL != tc.url || asked.Header.Get("Content-Type") != "application/json" || tc.body != "" && asked.Body != tc.body {
				t.Errorf("asked %s with %s\nwant %s with %s", asked.URL, asked.Body, tc.url, tc.body)
			}
			for name, want := range tc.header {
				if got := asked.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

const streamed = `{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`

func TestReasonsNotToCreateAProvider(t *testing.T) {
	custom := t.TempDir()
	for name, text := range map[string]string{
		"bad.json":      `{"name":"x","display_name":"X","models":[],"engine":"openai"`,
		"engine.json":   `{"name":"x","display_name":"X","models":[],"engine":"vax","api_key_env":"K","base_url":"http://h"}`,
		"nokey.json":    `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"NO_KEY","base_url":"http://h"}`,
		"address.json":  `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"K","base_url":"h:1"}`,
		".hidden.json":  `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"K","base_url":"http://h"}`,
		"headers.json":  `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"K","base_url":"http://h","headers":{"A":1}}`,
		"ollama-x.json": `{"name":"x","display_name":"X","models":[],"engine":"ollama","api_key_env":"K","base_url":""}`,
	} {
		testfile.Write(t, filepath.Join(custom, name), text)
	}
	for _, tc := range []struct {
		provider string
		settings settings
		want     string
	}{
		{"nope", nil, "Unknown provider: nope"},
		{"", nil, "Unknown provider: "},
		{"../" + filepath.Base(custom) + "/nokey", nil, "Unknown provider: ../" + filepath.Base(custom) + "/nokey"},
		{".hidden", settings{"K": `"k"`}, "Unknown provider: .hidden"},
		{"bad", nil, "Unknown provider: bad"},
		{"engine", nil, "Unknown provider: engine"},
		{"headers", settings{"K": `"k"`}, "Unknown provider: headers"},
		{"nokey", nil, "Configuration value not found: NO_KEY"},
		{"address", settings{"K": `"k"`}, "Invalid base URL: h:1"},
		{"ollama-x", nil, "Invalid base URL: "},
		{"databricks", nil, "Provider cannot run on this server: databricks (its API is not supported)"},
		{"openai", nil, "Configuration value not found: OPENAI_API_KEY"},
		{"anthropic", nil, "Configuration value not found: ANTHROPIC_API_KEY"},
		{"openai", settings{"OPENAI_API_KEY": "123"}, "Configuration value is not a string: OPENAI_API_KEY"},
		{"openai", settings{"OPENAI_API_KEY": `"k"`, "OPENAI_HOST": `"ftp://h"`}, "Invalid base URL: ftp://h"},
		{"openai", settings{"OPENAI_API_KEY": `"k"`, "OPENAI_HOST": `"http://"`}, "Invalid base URL: http://"},
	} {
		f := &llm.Factory{Settings: tc.settings, Env: variables(nil).lookup, Definitions: definition.NewStore(custom)}
		if _, err := f.New(tc.provider, llm.ModelConfig{ModelName: "m"}); err == nil || err.Error() != tc.want {
			t.Errorf("New(%q): %v, want %s", tc.provider, err, tc.want)
		}
	}
}

func TestModelConfigs(t *testing.T) {
	for _, tc := range []struct {
		model string
		env   variables
		want  string // JSON, or an error
	}{
		{"gpt-4o", nil, `{"model_name":"gpt-4o","context_limit":128000,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null,"fast_model":null}`},
		{"my-gpt-4.1-mini", nil, `{"model_name":"my-gpt-4.1-mini","context_limit":1000000,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null,"fast_model":null}`},
		{"m", nil, `{"model_name":"m","context_limit":null,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null,"fast_model":null}`},
		{"claude", variables{"GOOSE_CONTEXT_LIMIT": "4096", "GOOSE_TEMPERATURE": "0.50", "GOOSE_TOOLSHIM": "ON", "GOOSE_TOOLSHIM_OLLAMA_MODEL": "x"},
			`{"model_name":"claude","context_limit":4096,"temperature":0.5,"max_tokens":null,"toolshim":true,"toolshim_model":"x","fast_model":null}`},
		{"m", variables{"GOOSE_CONTEXT_LIMIT": "4095"}, `Value for 'GOOSE_CONTEXT_LIMIT' is out of valid range: must be greater than 4K`},
		{"m", variables{"GOOSE_CONTEXT_LIMIT": ""}, `Invalid value for 'GOOSE_CONTEXT_LIMIT': '' - must be a positive integer`},
		{"m", variables{"GOOSE_CONTEXT_LIMIT": `"8192"`}, `Invalid value for 'GOOSE_CONTEXT_LIMIT': '"8192"' - must be a positive integer`},
		{"m", variables{"GOOSE_CONTEXT_LIMIT": "<name>"}, `Invalid value for 'GOOSE_CONTEXT_LIMIT': '<name>' - must be a positive integer`},
		{"m", variables{"GOOSE_TEMPERATURE": "-1", "GOOSE_TOOLSHIM": "x"}, `Value for 'GOOSE_TEMPERATURE' is out of valid range: -1`},
		{"m", variables{"GOOSE_TEMPERATURE": "NaN"}, `Invalid value for 'GOOSE_TEMPERATURE': 'NaN' - must be a valid number`},
		{"m", variables{"GOOSE_TOOLSHIM": "maybe"}, `Invalid value for 'GOOSE_TOOLSHIM': 'maybe' - must be one of: 1, true, yes, on, 0, false, no, off`},
		{"m", variables{"GOOSE_TOOLSHIM_OLLAMA_MODEL": ""}, `Invalid value for 'GOOSE_TOOLSHIM_OLLAMA_MODEL': '' - cannot be empty if set`},
	} {
		config, err := llm.NewModelConfig(tc.model, tc.env.lookup)
		w := jsonwire.NewWriter(nil)
		config.Write(w)
		got := string(w.Text())
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("NewModelConfig(%q, %v) (-want +got):\n%s", tc.model, tc.env, diff)
		}
	}
}

func TestOpenAIHasAFastModel(t *testing.T) {
	f := &llm.Factory{Settings: both, Env: variables(nil).lookup}
	for name, want := range map[string]string{"openai": "gpt-4o-mini", "anthropic": "", "ollama": ""} {
		p, err := f.New(name, llm.ModelConfig{ModelName: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if fast := p.Config().FastModel; (fast == nil) != (want == "") || fast != nil && *fast != want {
			t.Errorf("%s has the fast model %v, want %q", name, fast, want)
		}
	}
}
