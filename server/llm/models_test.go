package llm_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

func TestTheModelsOfAService(t *testing.T) {
	for _, tc := range []struct {
		provider string
		status   int
		body     string
		url      string
		want     string
	}{
		{"openai", 200, `{"data":[{"id":"b"},{"id":"a"},{"id":7},5]}`, "http://model.test/v1/models", "a b"},
		{"openai", 200, `{"data":[]}`, "http://model.test/v1/models", ""},
		{"anthropic", 200, `{"data":[{"id":"claude"}]}`, "http://model.test/v1/models", "claude"},
		{"openai", 200, `{}`, "http://model.test/v1/models", "Request failed: The answer of the model cannot be read"},
		{"openai", 401, `no`, "http://model.test/v1/models", "Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no"},
	} {
		model, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) {
			w.WriteHeader(tc.status)
			io.WriteString(w, tc.body)
		})
		names, err := provider(t, tc.provider, "m", both, transport, nil).Models(t.Context())
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		asked := model.Asked()[0]
		if got != tc.want || asked.URL != tc.url || asked.Body != "" || asked.Header.Get("Content-Type") != "" {
			t.Errorf("%s %s: asked %s, got %q; want %s and %q", tc.provider, tc.body, asked.URL, got, tc.url, tc.want)
		}
	}
}
