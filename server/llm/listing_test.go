package llm_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// factory returns a factory with all keys, whose models never wait before a retry.
func factory(t *testing.T, s settings, transport http.RoundTripper) (f *llm.Factory, custom string) {
	custom = t.TempDir()
	return &llm.Factory{
		Settings: s, Env: variables{"GOOSE_PROVIDER_SKIP_BACKOFF": "true"}.lookup, Definitions: definition.NewStore(custom), Transport: transport,
	}, custom
}

var errOther = errors.New("neither rejected nor rate limited")

// lists are the answers of providers, and what becomes of them.
var lists = []struct {
	provider, url string
	status        int
	said          string
	want          string // joined by |
	err           error
	tries         int
}{
	{"openai", "https://api.openai.com/v1/models", 200, `{"data":[{"id":"é"},{"id":"b"},1,{"id":5},{"id":"B"},{"id":"b"}]}`, "B|b|b|é", nil, 1},
	{"openai", "", 200, `{"error":null,"data":[]}`, "", nil, 1},
	{"openai", "", 200, `{"error":"x","data":[]}`, "", llm.ErrRejected, 1},
	{"openai", "", 200, `{}`, "", llm.ErrRejected, 1},
	{"openai", "", 200, "\ufeff{}", "", errOther, 1},
	{"openai", "", 401, refusal, "", llm.ErrRejected, 1},
	{"openai", "", 403, refusal, "", llm.ErrRejected, 1},
	{"openai", "", 429, refusal, "", llm.ErrRateLimited, 4},
	{"openai", "", 500, refusal, "", errOther, 4},
	{"openai", "", 302, refusal, "", errOther, 1},
	{"anthropic", "https://api.anthropic.com/v1/models", 200, `{"error":1,"data":[{"id":"b"},{"id":"a"}]}`, "a|b", nil, 1},
	{"anthropic", "", 200, `[]`, "", nil, 1},
	{"anthropic", "", 403, refusal, "", llm.ErrRejected, 1},
	{"anthropic", "", 429, refusal, "", llm.ErrRateLimited, 1},
	{"anthropic", "", 400, refusal, "", errOther, 1},
	{"google", "https://generativelanguage.googleapis.com/v1beta/models", 200, `{"models":[{"name":"models/b"},{"name":"a"},{"name":"x/"}]}`, "|a|b", nil, 1},
	{"google", "", 500, refusal, "", nil, 1},
	{"google", "", 500, "no", "", errOther, 1},
	{"google", "", 200, "{}", "", nil, 1},
	{"google", "", 200, "no", "", errOther, 1},
	{"openrouter", "https://openrouter.ai/api/v1/models", 200, `{"data":[{"id":"b","supported_parameters":["x","tools"]},{"id":"a","supported_parameters":"tools"}]}`, "b", nil, 1},
	{"openrouter", "", 200, refusal, "", nil, 1},
	{"openrouter", "", 200, `{}`, "", llm.ErrRejected, 1},
	{"openrouter", "", 429, refusal, "", nil, 1},
	{"tetrate", "https://api.router.tetrate.ai/v1/models", 200, `{"data":[{"id":"b","supports_computer_use":true},{"id":"a","supports_computer_use":"true"}]}`, "b", nil, 1},
	{"tetrate", "", 200, `{}`, "", llm.ErrRejected, 1},
	{"tetrate", "", 503, refusal, "", nil, 1},
	{"litellm", "https://api.litellm.ai/model/info", 200, `{"data":[{"model_name":"b"},{"model_name":"x/*"},{"model_name":"*"},{"model_name":"a"}]}`, "b|*|a", nil, 1},
	{"litellm", "", 401, "x", "", nil, 1},
	{"litellm", "", 200, "{}", "", nil, 1},
	{"venice", "https://api.venice.ai/api/v1/models", 200, `{"data":[{"id":"z","model_spec":{"capabilities":{"supportsReasoning":true,"supportsFunctionCalling":true,"optimizedForCode":true}}},` +
		`{"id":"n","model_spec":{"capabilities":{"supportsVision":true}}},{"id":"a","model_spec":{"capabilities":{"supportsFunctionCalling":true}}}]}`, "a [f]|z [cfr]", nil, 1},
	{"venice", "", 401, refusal, "", errOther, 1},
	{"venice", "", 200, "{}", "", errOther, 1},
	{"ollama", "http://h:11434/p/api/tags", 200, `{"models":[{"name":"b"},{"name":"a"}]}`, "a|b", nil, 1},
	{"ollama", "", 200, `{"models":{}}`, "", errOther, 1},
	{"xai", "", 200, "", "", nil, 0},
	{"azure_openai", "", 200, "", "", nil, 0},
	{"github_copilot", "", 200, "", "", llm.ErrRejected, 0},
	{"groq", "", 200, "", "openai/gpt-oss-120b|llama-3.1-8b-instant|llama-3.3-70b-versatile|meta-llama/llama-guard-4-12b|openai/gpt-oss-20b", nil, 0},
	{"unknown", "", 200, "", "", llm.ErrRejected, 0},
}

const refusal = `{"error":{"message":"no"}}`

// TestListsOfModels checks GA 10.20 and decision G59.
func TestListsOfModels(t *testing.T) {
	for _, tc := range lists {
		upstream, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) {
			w.WriteHeader(tc.status)
			fmt.Fprint(w, tc.said)
		})
		f, _ := factory(t, allKeys, transport)
		names, err := f.ListModels(t.Context(), tc.provider)
		asked := upstream.Asked()
		if tc.want != strings.Join(names, "|") || (err == nil) != (tc.err == nil) || tc.err != errOther && !errors.Is(err, tc.err) || err == nil && names == nil || len(asked) != tc.tries {
			t.Errorf("%s, %d %s: %q, %v after %d tries; want %s, %v after %d", tc.provider, tc.status, tc.said, names, err, len(asked), tc.want, tc.err, tc.tries)
		}
		if tc.url != "" && (asked[0].URL != tc.url || asked[0].Header.Get("Content-Type") != "" || asked[0].Body != "") {
			t.Errorf("%s is asked at %s with %v", tc.provider, asked[0].URL, asked[0].Header)
		}
	}
}

// TestTheLogDoesNotQuoteProviders checks decision G59: an answer may have the key of the request.
func TestTheLogDoesNotQuoteProviders(t *testing.T) {
	_, transport := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, `{"error":{"message":"the key %s is wrong"}}`, asked.Header.Get("X-Api-Key"))
	})
	f, _ := factory(t, allKeys, transport)
	_, err := f.ListModels(t.Context(), "anthropic")
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Warn("x", "err", err)
	if key := jsonwire.Text(allKeys["ANTHROPIC_API_KEY"]).Str(); key == "" || !strings.Contains(fmt.Sprint(err), key) || strings.Contains(log.String(), key) || !strings.Contains(log.String(), `err="Server error, 502 Bad Gateway"`) {
		t.Errorf("the key is %q, the error %v, the line %s", key, err, &log)
	}
}

func TestAListThatIsTooLarge(t *testing.T) {
	said := `{"data":[{"id":"a"}],"more":"`
	for size, wanted := range map[int]bool{16 << 20: true, 16<<20 + 1: false} {
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) {
			fmt.Fprint(w, said, strings.Repeat("x", size-len(said)-2), `"}`)
		})
		f, _ := factory(t, allKeys, transport)
		if _, err := f.ListModels(t.Context(), "openai"); (err == nil) != wanted {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestARequestForAListIsNotSentAgain checks that the transport does not repeat a GET when a server closes a connection
// that it has kept (decision M47).
func TestARequestForAListIsNotSentAgain(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var seen sync.WaitGroup
	requests := 0
	seen.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			for r := bufio.NewReader(c); ; {
				_, err := http.ReadRequest(r)
				if err != nil {
					break
				}
				if requests++; requests > 1 {
					break
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"data\":[]}")
			}
			c.Close()
		}
	})
	transport := llm.NewTransport()
	f, _ := factory(t, allKeys.with(settings{"ANTHROPIC_HOST": `"http://` + ln.Addr().String() + `"`}), transport)
	_, first := f.ListModels(t.Context(), "anthropic")
	_, second := f.ListModels(t.Context(), "anthropic")
	transport.CloseIdleConnections()
	ln.Close()
	seen.Wait()
	if first != nil || second == nil || requests != 2 {
		t.Errorf("%v, %v after %d requests; want 2", first, second, requests)
	}
}

// TestWhoseKeyItIs checks GA 10.21 and decision G61.
func TestWhoseKeyItIs(t *testing.T) {
	const data = `{"data":[{"id":"b"},{"id":"a"}]}`
	answers := map[string]string{"anthropic": data, "openai": data, "google": `{"models":[{"name":"models/g"}]}`, "groq": data}
	for _, tc := range []struct {
		change map[string]string // a text that is no object is an error
		want   string
	}{
		{nil, "anthropic a b"},
		{map[string]string{"anthropic": "{}"}, "openai a b"},
		{map[string]string{"anthropic": "no", "openai": `{"error":1,"data":[]}`}, "google g"},
		{map[string]string{"anthropic": "no", "openai": `{"data":[]}`}, "openai"},
		{map[string]string{"anthropic": "no", "openai": "no", "google": `{}`}, "groq a b"},
		{map[string]string{"anthropic": "no", "openai": "no", "google": "no", "groq": "no"}, ""},
	} {
		upstream, transport := llmtest.Start(t, func(w http.ResponseWriter, a llmtest.Asked) {
			name := strings.Split(a.URL, "/")[3]
			said, changed := tc.change[name]
			if !changed {
				said = answers[name]
			}
			if said == "no" {
				w.WriteHeader(401)
			}
			fmt.Fprint(w, said)
		})
		f, custom := factory(t, settings{
			"ANTHROPIC_HOST": `"http://h/anthropic"`, "OPENAI_HOST": `"http://h/openai"`, "GOOGLE_HOST": `"http://h/google"`, "OPENAI_API_KEY": "5",
		}, transport)
		testfile.Write(t, filepath.Join(custom, "groq.json"),
			`{"name":"n","engine":"openai","display_name":"D","base_url":"http://h/groq/v1/chat/completions","models":[]}`)
		found, ok := f.Detect(t.Context(), " \u2003 12345\n")
		if got := strings.TrimSpace(string(found.ProviderName) + " " + strings.Join(found.Models, " ")); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%v: %q, %t; want %q", tc.change, got, ok, tc.want)
		}
		for _, asked := range upstream.Asked() {
			keys := asked.Header.Get("Authorization") + asked.Header.Get("X-Api-Key") + asked.Header.Get("X-Goog-Api-Key")
			if strings.TrimPrefix(keys, "Bearer ") != "12345" {
				t.Errorf("%s is asked with %v", asked.URL, asked.Header)
			}
		}
	}
}

func TestWhatIsNoKeyIsNotSent(t *testing.T) {
	upstream, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { fmt.Fprint(w, `{"data":[]}`) })
	f, _ := factory(t, settings{}, transport)
	for _, key := range []string{"", " \t\n\u2003", "a\tb", "a\nb", "ü", "a\x7f"} {
		if found, ok := f.Detect(t.Context(), key); ok {
			t.Errorf("%q is a key of %s", key, found.ProviderName)
		}
	}
	if asked := upstream.Asked(); len(asked) > 0 {
		t.Errorf("%d requests were sent", len(asked))
	}
}

// TestADetectionEnds checks that all requests end when the client has left, and the others when one has won.
func TestADetectionEnds(t *testing.T) {
	for _, won := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		var begun, ended sync.WaitGroup
		begun.Add(4)
		ended.Add(3)
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, a llmtest.Asked) {
			begun.Done()
			begun.Wait() // until all are asked
			if strings.Contains(a.URL, "anthropic") {
				if won {
					fmt.Fprint(w, `{"data":[]}`)
					return
				}
				leave()
				<-a.Gone
				return
			}
			<-a.Gone
			ended.Done()
		})
		f, _ := factory(t, settings{}, transport)
		if _, ok := f.Detect(ctx, "k"); ok != won {
			t.Errorf("found: %t, want %t", ok, won)
		}
		ended.Wait()
		leave()
	}
}

// TestProvidersAreDescribed checks decisions G57 and G64.
func TestProvidersAreDescribed(t *testing.T) {
	f, custom := factory(t, settings{"XAI_API_KEY": `""`, "GROQ_API_KEY": `""`, "MISTRAL_API_KEY": "5", "AWS_PROFILE": `"p"`}, nil)
	const least = `{"name":"n","engine":"anthropic","display_name":"D","base_url":"x","models":[{"name":"m","context_limit":1}]}`
	for name, text := range map[string]string{"Z": least, "openai": least, "custom_deepseek": "broken", "free": strings.Replace(least, "anthropic", "ollama", 1)} {
		testfile.Write(t, filepath.Join(custom, name+".json"), text)
	}
	w := jsonwire.NewWriter(nil)
	jsonwire.Array(w, f.Providers(), llm.Details.Write)
	var all []api.ProviderDetails
	if err := jsonwire.Unmarshal(w.Text(), &all); err != nil {
		t.Fatal(err)
	}
	var names, ready []string
	for _, p := range all {
		names = append(names, p.Name)
		if p.IsConfigured {
			ready = append(ready, p.Name)
		}
		switch p.Name {
		case "Z":
			m := p.Metadata
			if p.ProviderType != "Custom" || m.Description != "Custom D provider" || m.DefaultModel != "m" || *m.KnownModels[0].SupportsCacheControl || len(m.ConfigKeys) != 1 ||
				m.ConfigKeys[0].Name != "ANTHROPIC_HOST" || m.ModelDocLink == "" {
				t.Errorf("%+v", p)
			}
		case "google":
			if !strings.HasSuffix(p.Metadata.Description, ". Cannot run on this server: its API is not supported") {
				t.Errorf("%+v", p)
			}
		}
	}
	if !slices.IsSorted(names) || len(names) != 23 || slices.Contains(names, "custom_deepseek") {
		t.Errorf("%d providers: %q", len(names), names)
	}
	if want := []string{"Z", "free", "mistral", "sagemaker_tgi", "xai"}; !slices.Equal(ready, want) {
		t.Errorf("configured: %q, want %q", ready, want)
	}
}
