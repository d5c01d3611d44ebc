package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// allKeys are keys for all providers that run.
var allKeys = settings{
	"OPENAI_API_KEY": `"k"`, "ANTHROPIC_API_KEY": `"k"`, "GOOGLE_API_KEY": `"k"`, "OPENROUTER_API_KEY": `"k"`, "TETRATE_API_KEY": `"k"`,
	"LITELLM_API_KEY": `"k"`, "VENICE_API_KEY": `"k"`, "XAI_API_KEY": `"k"`, "AZURE_OPENAI_API_KEY": `"k"`, "AZURE_OPENAI_ENDPOINT": `"http://az/"`,
	"AZURE_OPENAI_DEPLOYMENT_NAME": `"a b/ü"`, "OLLAMA_HOST": `"h/p/"`,
}

// with returns all keys with others.
func (s settings) with(more settings) settings {
	all := settings{}
	for _, part := range []settings{s, more} {
		for key, value := range part {
			all[key] = value
		}
	}
	return all
}

// ask asks a provider, and returns what it was sent last.
func ask(t *testing.T, name, model string, s settings, r llm.Request) llmtest.Asked {
	t.Helper()
	upstream, transport := llmtest.Start(t, func(w http.ResponseWriter, a llmtest.Asked) {
		if a.Streams() {
			llmtest.Events(w, llmtest.Says("a", "Hi")...)
			return
		}
		llmtest.Whole(w, "Hi")
	})
	for _, err := range provider(t, name, model, s, transport, nil).Answer(t.Context(), r) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := upstream.Asked()
	return asked[len(asked)-1]
}

// TestWhereTheOthersSendRequests checks decisions M5, M73 and M74.
func TestWhereTheOthersSendRequests(t *testing.T) {
	const goose = "https://block.github.io/goose"
	for _, tc := range []struct {
		provider string
		settings settings
		url      string
		header   map[string]string
		streams  bool
	}{
		{"azure_openai", nil, "http://az/openai/deployments/a%20b%2F%C3%BC/chat/completions?api-version=2024-10-21", map[string]string{"Api-Key": "k", "Authorization": ""}, false},
		{"azure_openai", settings{"AZURE_OPENAI_API_VERSION": `"1&2"`, "AZURE_OPENAI_DEPLOYMENT_NAME": `"-._~"`},
			"http://az/openai/deployments/-._~/chat/completions?api-version=1%262", nil, false},
		{"litellm", nil, "https://api.litellm.ai/v1/chat/completions", map[string]string{"Authorization": "Bearer k", "X-No-Auth": ""}, false},
		{"litellm", settings{"LITELLM_API_KEY": `""`, "LITELLM_HOST": `"http://l//"`, "LITELLM_BASE_PATH": `"//p"`, "LITELLM_CUSTOM_HEADERS": `" A : b:c \nbad\n:x"`},
			"http://l/p", map[string]string{"Authorization": "", "X-No-Auth": "true", "A": "b:c"}, false},
		{"openrouter", nil, "https://openrouter.ai/api/v1/chat/completions", map[string]string{"Authorization": "Bearer k", "HTTP-Referer": goose, "X-Title": "goose"}, false},
		{"tetrate", settings{"TETRATE_HOST": `"http://t/x"`}, "http://t/x/v1/chat/completions", map[string]string{"Authorization": "Bearer k", "HTTP-Referer": goose, "X-Title": "goose"}, true},
		{"venice", nil, "https://api.venice.ai/api/v1/chat/completions", map[string]string{"Authorization": "Bearer k", "X-Title": ""}, false},
		{"xai", nil, "https://api.x.ai/v1/chat/completions", map[string]string{"Authorization": "Bearer k", "X-Title": ""}, false},
		{"ollama", nil, "http://h:11434/p/v1/chat/completions", map[string]string{"Authorization": ""}, true},
		{"ollama", settings{"OLLAMA_HOST": `"http://[::1]/"`}, "http://[::1]:11434/v1/chat/completions", nil, true},
	} {
		asked := ask(t, tc.provider, "m", allKeys.with(tc.settings), llm.Request{})
		if asked.URL != tc.url || asked.Streams() != tc.streams || asked.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s asks %s, streams: %t; want %s, %t", tc.provider, asked.URL, asked.Streams(), tc.url, tc.streams)
		}
		for name, want := range tc.header {
			if got := asked.Header.Get(name); got != want {
				t.Errorf("%s sends %s: %q, want %q", tc.provider, name, got, want)
			}
		}
	}
}

func TestReasonsOfTheOthers(t *testing.T) {
	custom := t.TempDir()
	testfile.Write(t, filepath.Join(custom, "openai.json"), `{"name":"n","engine":"ollama","display_name":"D","base_url":"http://h","models":[]}`)
	for _, tc := range []struct {
		provider string
		settings settings
		env      variables
		want     string
	}{
		{"azure_openai", settings{"AZURE_OPENAI_API_KEY": `""`}, nil, "Configuration value not found: AZURE_OPENAI_API_KEY"},
		{"azure_openai", settings{"AZURE_OPENAI_API_KEY": "null"}, nil, "Configuration value not found: AZURE_OPENAI_API_KEY"},
		{"azure_openai", settings{"AZURE_OPENAI_API_KEY": "5", "AZURE_OPENAI_DEPLOYMENT_NAME": "null"}, nil, "Configuration value not found: AZURE_OPENAI_DEPLOYMENT_NAME"},
		{"litellm", settings{"LITELLM_API_KEY": "null"}, nil, ""},
		{"litellm", settings{"LITELLM_TIMEOUT": `"soon"`}, nil, ""},
		{"litellm", settings{"LITELLM_CUSTOM_HEADERS": "5"}, nil, "Configuration value is not a string: LITELLM_CUSTOM_HEADERS"},
		{"openrouter", settings{"OPENROUTER_API_KEY": `""`}, nil, ""},
		{"openrouter", settings{"OPENROUTER_API_KEY": "null", "OPENROUTER_HOST": "5"}, nil, "Configuration value not found: OPENROUTER_API_KEY"},
		{"venice", settings{"VENICE_MODELS_PATH": "5"}, nil, "Configuration value is not a string: VENICE_MODELS_PATH"},
		{"xai", settings{"XAI_HOST": `"h:1"`}, nil, "Invalid base URL: h:1"},
		{"google", nil, nil, "Provider cannot run on this server: google (its API is not supported)"},
		{"aws_bedrock", nil, nil, "Provider cannot run on this server: aws_bedrock (its request signatures are not supported)"},
		{"github_copilot", nil, nil, "Provider cannot run on this server: github_copilot (its sign-in is not supported)"},
		{"claude-code", nil, nil, "Provider cannot run on this server: claude-code (it needs another program)"},
		{"google", nil, variables{"GOOSE_TEMPERATURE": "-1"}, "Invalid model config: Value for 'GOOSE_TEMPERATURE' is out of valid range: -1"},
		{"nobody", nil, variables{"GOOSE_TEMPERATURE": "-1"}, "Unknown provider: nobody"},
		{"openai", settings{"OPENAI_API_KEY": "null"}, nil, "Configuration value not found: OPENAI_API_KEY"}, // whatever openai.json says
	} {
		f := &llm.Factory{Settings: allKeys.with(tc.settings), Env: tc.env.lookup, Definitions: definition.NewStore(custom)}
		got := ""
		if err := f.Check(tc.provider); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s with %v: %q, want %q", tc.provider, tc.settings, got, tc.want)
		}
	}
}

func user(items ...message.Content) message.Message {
	return message.Message{Role: message.User, Content: items}
}

var twoTools = []llm.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}, {Name: "b", Schema: json.RawMessage(`{}`)}}

// TestCacheMarks checks decision M75.
func TestCacheMarks(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	request := llm.Request{System: "S", Tools: twoTools, Messages: []message.Message{
		user(message.Text{Text: "1"}), user(message.Text{Text: "2"}), user(message.Text{Text: "3"}, message.Image{Data: "x", MIMEType: "image/png"}),
	}}
	marked := func(role, text string) string {
		return `{"role":"` + role + `","content":[{"type":"text","text":"` + text + `",` + mark + `}]}`
	}
	const tools = `"tools":[{"type":"function","function":{"name":"a","description":"","parameters":{}}},{"type":"function","function":{"name":"b","description":"","parameters":{}`
	const last = `{"role":"user","content":[{"type":"text","text":"3"},{"type":"image_url","image_url":{"url":"data:image/png;base64,x"}}]}`
	plain := `"messages":[{"role":"system","content":"S"},{"role":"user","content":"1"},{"role":"user","content":"2"},` + last + `],` + tools + `}}]`
	with := `"messages":[` + marked("system", "S") + `,{"role":"user","content":"1"},` + marked("user", "2") + `,` + last + `],` + tools + `,` + mark + `}}]`
	for _, tc := range []struct{ provider, model, want string }{
		{"openrouter", "anthropic/x", `{"model":"anthropic/x",` + with + `,"transforms":["middle-out"]}`},
		{"openrouter", "x/anthropic", `{"model":"x/anthropic",` + plain + `,"transforms":["middle-out"]}`},
		{"litellm", "my-claude", `{"model":"my-claude",` + with + `}`},
		{"litellm", "m", `{"model":"m",` + plain + `}`},
		{"xai", "anthropic-claude", `{"model":"anthropic-claude",` + plain + `}`},
	} {
		if got := ask(t, tc.provider, tc.model, allKeys, request).Body; got != tc.want {
			t.Errorf("%s, %s:\n%s\nwant\n%s", tc.provider, tc.model, got, tc.want)
		}
	}
}

// TestAProxyIsAskedForItsCache checks decision M75: once for each call, with a limit of its own.
func TestAProxyIsAskedForItsCache(t *testing.T) {
	const yes = `{"data":[1,{"model_name":"x","model_info":{"supports_prompt_caching":true}},{"model_name":"m"},{"model_name":"m","model_info":{"supports_prompt_caching":true}}]}`
	for _, tc := range []struct {
		model, info string
		status      int
		asked, want int // how often, and marks
	}{
		{"m", yes, 200, 1, 1}, {"m", yes, 500, 1, 0}, {"m", yes[1:], 200, 1, 0}, {"m", strings.ReplaceAll(yes, "true", `"true"`), 200, 1, 0},
		{"M", yes, 200, 1, 0}, {"m", "\ufeff" + yes, 200, 1, 0}, {"claude", yes, 200, 0, 1},
	} {
		calls := 0
		upstream, transport := llmtest.Start(t, func(w http.ResponseWriter, a llmtest.Asked) {
			if strings.HasSuffix(a.URL, "/model/info") {
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.info)
			} else if calls++; calls == 1 {
				w.WriteHeader(503)
			} else {
				llmtest.Whole(w, "Hi")
			}
		})
		p := provider(t, "litellm", tc.model, allKeys, transport, variables{"GOOSE_PROVIDER_SKIP_BACKOFF": "true"})
		if _, err := p.Ask(t.Context(), llm.Request{System: "S"}); err != nil {
			t.Fatal(err)
		}
		asked := upstream.Asked()
		last := asked[len(asked)-1]
		if got := strings.Count(last.Body, "cache_control"); got != tc.want || len(asked) != tc.asked+2 {
			t.Errorf("%+v: %d marks, %d requests", tc, got, len(asked))
		}
		if first := asked[0]; tc.asked > 0 && (first.Header.Get("Authorization") != "Bearer k" || first.Header.Get("Content-Type") != "" || first.Body != "") {
			t.Errorf("%+v: the proxy is asked with %v %s", tc, first.Header, first.Body)
		}
	}
}

// TestVenice checks decision M77.
func TestVenice(t *testing.T) {
	result := message.ToolResponse{ID: "c", Result: message.ToolResult{}}
	asked := ask(t, "venice", "o3-high\u2003[f]", allKeys, llm.Request{System: "S", Tools: twoTools[:1], Messages: []message.Message{
		user(message.Text{Text: "1"}, message.Image{Data: "x", MIMEType: "image/png"}, message.Text{Text: "2"}),
		{Role: message.Assistant, Content: []message.Content{message.ToolRequest{ID: "c"}}},
		user(result),
	}})
	const want = `{"model":"o3-high","messages":[{"role":"system","content":"S"},{"role":"user","content":"1\n[image]\n2"},{"role":"assistant","content":"",` +
		`"tool_calls":[{"id":"c","type":"function","function":{"name":"","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":""}],` +
		`"stream":false,"temperature":0.7,"max_tokens":2048,"tools":[{"type":"function","function":{"name":"a","description":"","parameters":{}}}]}`
	if asked.Body != want {
		t.Errorf("%s\nwant\n%s", asked.Body, want)
	}
}

// TestErrorsOfTheOthers checks decisions M76 and M77.
func TestErrorsOfTheOthers(t *testing.T) {
	const noTools = "Request failed: The selected model 'm' does not support tool calls. Please select a model that supports tools, such as 'llama-3.3-70b' or 'mistral-31-24b'."
	const choices = `"choices":[{"message":{"content":"Hi"}}]`
	for _, tc := range []struct {
		provider string
		status   int
		said     string
		tries    int
		want     string
	}{
		{"openrouter", 200, `{"error":{"message":"x","code":401},` + choices + `}`, 1, "Authentication error: Authentication failed. Status: 401 Unauthorized. Response: x"},
		{"openrouter", 200, `{"error":{"message":"x","code":"429"}}`, 4, "Rate limit exceeded: x"},
		{"openrouter", 202, `{"error":{"message":"x","code":503}}`, 4, "Server error: Server error (503 Service Unavailable): x"},
		{"openrouter", 200, `{"error":{"message":"too long","code":400}}`, 1, "Context length exceeded: too long"},
		{"openrouter", 200, `{"error":{"message":"x","code":401.0}}`, 1, "Request failed: x"},
		{"openrouter", 200, `{"error":{"message":"x","code":600}}`, 1, "Request failed: x"},
		{"openrouter", 200, `{"error":{"message":"x","code":"+401"}}`, 1, "Request failed: x"},
		{"openrouter", 200, `{"error":null,` + choices + `}`, 1, ""},
		{"tetrate", 200, `{"error":{"message":"x","code":404}}`, 1, "Request failed: Resource not found (404): x"},
		{"xai", 200, `{"error":{"message":"x","code":401},` + choices + `}`, 1, ""},
		{"venice", 400, `{"details":{"tools":{"_errors":{"0":"it is not supported by this model!"}}},"message":"context"}`, 1, noTools},
		{"venice", 400, `{"context":{"issues":[{},{"message":"tools is not supported by this model"}]}}`, 1, noTools},
		{"venice", 400, `{"message":"tools is not supported by this model"}`, 1, "Request failed: Bad request (400): tools is not supported by this model"},
		{"venice", 404, `{"message":"x","details":{"tools":{"_errors":["not supported by this model"]}}}`, 1, "Request failed: Resource not found (404): x"},
		{"xai", 400, `{"message":"x","details":{"tools":{"_errors":["not supported by this model"]}}}`, 1, "Request failed: Bad request (400): x"},
	} {
		upstream, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) {
			w.WriteHeader(tc.status)
			fmt.Fprint(w, tc.said)
		})
		p := provider(t, tc.provider, "m", allKeys, transport, variables{"GOOSE_PROVIDER_SKIP_BACKOFF": "true"})
		got := ""
		if _, err := p.Ask(t.Context(), llm.Request{}); err != nil {
			got = err.Error()
		}
		if got != tc.want || len(upstream.Asked()) != tc.tries {
			t.Errorf("%s, %s: %q after %d tries, want %q after %d", tc.provider, tc.said, got, len(upstream.Asked()), tc.want, tc.tries)
		}
	}
}
