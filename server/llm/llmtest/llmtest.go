// Package llmtest provides a model for tests: an upstream in memory that answers from a script, and records its requests.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// A Model is an upstream. It is safe for concurrent use.
type Model struct {
	answer func(http.ResponseWriter, Asked)

	mu    sync.Mutex
	asked []Asked
}

// Asked is one request to a model.
type Asked struct {
	URL    string // as the client sent it, including scheme and host
	Header http.Header
	Body   string
	// Gone is closed when the client has left.
	Gone <-chan struct{}
}

// Streams reports whether the client wants a streamed answer.
func (a Asked) Streams() bool {
	var body struct{ Stream bool }
	_ = json.Unmarshal([]byte(a.Body), &body)
	return body.Stream
}

// Start starts a model, and returns the transport for its clients. The model stops with the test.
func Start(t testing.TB, answer func(http.ResponseWriter, Asked)) (*Model, http.RoundTripper) {
	t.Helper()
	m := &Model{answer: answer}
	ln := memnet.Listen()
	memnet.Serve(t, &http.Server{Handler: m}, ln)
	client := ln.Client()
	t.Cleanup(client.CloseIdleConnections)
	return m, plain{client.Transport}
}

// plain replaces https by http in URLs, because the network in memory has no TLS.
type plain struct{ http.RoundTripper }

const original = "X-Test-Url"

func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	clone := r.Clone(r.Context())
	clone.Header.Set(original, r.URL.String())
	clone.URL.Scheme = "http"
	return p.RoundTripper.RoundTrip(clone)
}

// ServeHTTP records a request and answers it.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	asked := Asked{URL: r.Header.Get(original), Header: r.Header, Body: string(body), Gone: r.Context().Done()}
	r.Header.Del(original)
	m.mu.Lock()
	m.asked = append(m.asked, asked)
	m.mu.Unlock()
	m.answer(w, asked)
}

// Asked returns the requests so far.
func (m *Model) Asked() []Asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Asked(nil), m.asked...)
}

// Events sends the events of a stream, one for each data argument, and flushes each.
func Events(w http.ResponseWriter, data ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, line := range data {
		fmt.Fprintf(w, "data: %s\n\n", line)
		http.NewResponseController(w).Flush()
	}
}

// Says returns the events of a chat completions answer with the given pieces of text, and with usage.
func Says(id string, texts ...string) []string {
	var events []string
	for _, text := range texts {
		events = append(events, fmt.Sprintf(`{"id":%q,"model":"m","choices":[{"delta":{"content":%s}}]}`, id, quoted(text)))
	}
	return append(events, End(id, "stop", 10, 5)...)
}

// End returns the last events of a chat completions answer.
func End(id, reason string, prompt, completion int) []string {
	return []string{
		fmt.Sprintf(`{"id":%q,"model":"m","choices":[{"delta":{},"finish_reason":%q}]}`, id, reason),
		fmt.Sprintf(`{"id":%q,"model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`,
			id, prompt, completion, prompt+completion),
		"[DONE]",
	}
}

// Calls returns the events of a chat completions answer that calls tools. The arguments alternate between names and
// arguments. The IDs are call_1, call_2 and so on.
func Calls(id string, namesAndArguments ...string) []string {
	var calls []string
	for i := 0; i < len(namesAndArguments); i += 2 {
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"call_%d","function":{"name":%q,"arguments":%s}}`,
			i/2, i/2+1, namesAndArguments[i], quoted(namesAndArguments[i+1])))
	}
	event := fmt.Sprintf(`{"id":%q,"model":"m","choices":[{"delta":{"tool_calls":[%s]}}]}`, id, strings.Join(calls, ","))
	return append([]string{event}, End(id, "tool_calls", 20, 7)...)
}

// Whole sends a complete answer that is not streamed.
func Whole(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"whole","model":"m","choices":[{"message":{"role":"assistant","content":%s}}],`+
		`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`, quoted(text))
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string has JSON
	}
	return string(text)
}
