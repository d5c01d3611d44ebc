package connector

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestServersOverHTTP(t *testing.T) {
	server := testServer()
	get := func(*http.Request) *mcp.Server { return server }
	for kind, handler := range map[string]http.Handler{
		"sse":             mcp.NewSSEHandler(get, nil),
		"streamable_http": mcp.NewStreamableHTTPHandler(get, nil),
	} {
		t.Run(kind, func(t *testing.T) {
			host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if kind == "streamable_http" && r.Header.Get("X-Token") != "s3-e-$" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			defer host.Close()
			s := newSet(t)
			config := extension.Config{Type: kind, Name: "test", URI: host.URL, EnvKeys: []string{"TOKEN"}, Envs: jsonwire.Pairs{{Name: "E", Value: "e"}}}
			if kind == "streamable_http" {
				if err := s.Add(t.Context(), config); err == nil || err.Error() != "Cannot connect to "+host.URL+": 401 Unauthorized" {
					t.Errorf("without a header: %v", err)
				}
			}
			config.Headers = jsonwire.Pairs{{Name: "x-token", Value: "${TOKEN}$NONE-$E-$"}}
			add(t, s, config)
			if got := written(s.Call(t.Context(), quiet("test__echo", `{"z":1.0,"a":2}`))); got != `{"type":"text","text":"{\"z\":1.0,\"a\":2}"}` {
				t.Error(got)
			}
			tools, err := s.ToolsOf(t.Context(), "test")
			if err != nil || !strings.Contains(names(tools), "test__echo") {
				t.Errorf("tools: %v, %v", tools, err)
			}
			s.Close()
		})
	}
}

func TestURLsThatRejectTheConnection(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	teapot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer teapot.Close()
	for _, kind := range []string{"sse", "streamable_http"} {
		for uri, want := range map[string]string{
			"ftp://x":          "Invalid URL: http:// or https:// with a host is needed",
			"nowhere?k=s3cret": "Invalid URL: http:// or https:// with a host is needed",
			gone.URL:           "Cannot connect to " + gone.URL,
			teapot.URL:         "Cannot connect to " + teapot.URL + ": 418",
			// The error must not reveal parts that may be secret.
			strings.Replace(plain.URL, "http://", "HTTP://me:s3cret@", 1) + "/s3cret?key=s3cret": "Cannot connect to " + plain.URL + ": 404 Not Found",
		} {
			s := newSet(t)
			if err := s.Add(t.Context(), extension.Config{Type: kind, Name: "x", URI: uri}); err == nil || err.Error() != want {
				t.Errorf("%s %s: %v, want %s", kind, uri, err, want)
			}
		}
	}
}
