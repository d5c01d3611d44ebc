package connector

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
)

// A site is an MCP server over streamable HTTP that answers exactly as a test wants.
type site struct {
	version string // the version in its answer; 2025-06-18 if empty
	// get answers the n-th GET, from 0. Nil answers 405.
	get func(w http.ResponseWriter, r *http.Request, n int)
	// call answers tools/call. Nil answers with a text.
	call func(w http.ResponseWriter, r *http.Request, id json.RawMessage)

	mu   sync.Mutex
	gets int
	// asked are the requests: the HTTP method, the MCP method, the version, the session and the last event of each.
	asked []string
	// answers are the answers to the server's own requests.
	answers chan string
}

// start serves until the test ends, and returns the configuration of the extension.
func (s *site) start(t *testing.T) extension.Config {
	s.answers = make(chan string, 100)
	host := httptest.NewServer(s)
	t.Cleanup(host.Close)
	return extension.Config{Type: "streamable_http", Name: "test", URI: host.URL}
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct {
		ID     json.RawMessage
		Method string
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &message)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(strings.Join([]string{
		r.Method, message.Method, r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Mcp-Session-Id"), r.Header.Get("Last-Event-ID"),
	}, " ")))
	n := s.gets
	if r.Method == http.MethodGet {
		s.gets++
	}
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && s.get != nil:
		s.get(w, r, n)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
	case message.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		sendJSON(w, message.ID, `{"protocolVersion":"`+cmp.Or(s.version, "2025-06-18")+`","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
	case message.Method == "":
		s.answers <- string(body)
		w.WriteHeader(http.StatusAccepted)
	case message.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case s.call != nil:
		s.call(w, r, message.ID)
	default:
		sendJSON(w, message.ID, done)
	}
}

// done is the result of a tool.
const done = `{"content":[{"type":"text","text":"done"}]}`

func sendJSON(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// sendEvents sends a piece of an event stream and flushes it.
func sendEvents(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// requests returns the requests so far, sorted, because a stream is opened concurrently with the first requests.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.asked))
}

const wasDone = `{"type":"text","text":"done"}`

func TestRequestsNameTheVersionAndTheSession(t *testing.T) {
	listening := make(chan struct{})
	there := &site{get: func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(http.StatusMethodNotAllowed)
		close(listening)
	}}
	config := there.start(t)
	s := newSet(t)
	add(t, s, config)
	<-listening
	if got := written(s.Call(t.Context(), quiet("test__x", `{}`))); got != wasDone {
		t.Error(got)
	}
	s.Close()
	want := []string{
		"DELETE  2025-06-18 s1", "GET  2025-06-18 s1", "POST initialize", "POST notifications/initialized 2025-06-18 s1", "POST tools/call 2025-06-18 s1",
	}
	if diff := gocmp.Diff(want, there.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAServerSendsMessagesOnASeparateStream(t *testing.T) {
	running := make(chan struct{})
	answered := make(chan struct{})
	there := &site{
		get: func(w http.ResponseWriter, r *http.Request, _ int) {
			<-running // also before the head is sent, because nothing waits for it
			sendEvents(w, ": hello\n\n"+
				`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.0}}`+"\n\n"+
				`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n\n"+
				`data: {"jsonrpc":"2.0","id":77,"result":{}}`+"\n\n"+
				`data: {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object"}}}`+"\n\n"+
				`data: {"jsonrpc":"2.0","id":8,"method":"ping"}`+"\n\n"+
				`data: {"jsonrpc":"2.0","id":9,"method":"roots/list"}`+"\n\n")
			<-r.Context().Done()
		},
		call: func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			close(running)
			<-answered
			sendJSON(w, id, done)
		},
	}
	config := there.start(t)
	s := newSet(t)
	add(t, s, config)
	heard := make(chan string, 10)
	call := quiet("test__x", `{}`)
	call.Notify = func(n toolbox.Notification) { heard <- n.Method + string(n.Params) }
	call.Elicit = func(_ context.Context, text string, schema json.RawMessage) (json.RawMessage, error) {
		heard <- text + string(schema)
		return json.RawMessage(`{"z":1.0,"a":2}`), nil
	}
	result := make(chan string, 1)
	go func() { result <- written(s.Call(t.Context(), call)) }()
	var got []string
	for range 3 {
		got = append(got, within(t, "the answers", there.answers))
	}
	slices.Sort(got)
	want := []string{
		`{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"z":1.0,"a":2}}}`,
		`{"jsonrpc":"2.0","id":8,"result":{}}`,
		`{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found: roots/list"}}`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	close(answered)
	if got := within(t, "the result", result); got != wasDone {
		t.Error(got)
	}
	if first, second := <-heard, <-heard; first != `notifications/message{"level":"info","data":1.0}` || second != `Who?{"type":"object"}` {
		t.Errorf("heard %s and %s", first, second)
	}
}

func TestTheStreamIsOpenedAgain(t *testing.T) {
	note := func(data int) string {
		return fmt.Sprintf(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n\n", data)
	}
	there := &site{get: func(w http.ResponseWriter, r *http.Request, n int) {
		switch n {
		case 0:
			sendEvents(w, "retry: 1\nid: e5\n"+note(1)+"id: e6\ndata: {")
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler)
		default:
			sendEvents(w, note(2))
			<-r.Context().Done()
		}
	}}
	config := there.start(t)
	r := overHTTP(t, config)
	defer r.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	err := r.Listen(ctx, func(message []byte) error {
		got = append(got, string(message))
		if len(got) == 2 {
			cancel()
		}
		return nil
	})
	if err != nil || len(got) != 2 || !strings.Contains(got[0], `"data":1`) || !strings.Contains(got[1], `"data":2`) {
		t.Errorf("heard %q, %v", got, err)
	}
	if diff := gocmp.Diff([]string{"GET", "GET    e5", "GET    e5", "GET    e5"}, there.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAServerNeedsNoStream(t *testing.T) {
	for name, get := range map[string]func(w http.ResponseWriter, r *http.Request, n int){
		"405":       nil,
		"down":      func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusServiceUnavailable) },
		"not found": func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusNotFound) },
		"a page":    func(w http.ResponseWriter, _ *http.Request, _ int) { io.WriteString(w, "<html>") },
		"elsewhere": func(w http.ResponseWriter, r *http.Request, _ int) { http.Redirect(w, r, "/x", http.StatusFound) },
	} {
		there := &site{get: get}
		config := there.start(t)
		r := overHTTP(t, config)
		err := r.Listen(t.Context(), func(message []byte) error { return fmt.Errorf("heard %s", message) })
		if err != nil || len(there.requests()) != 1 {
			t.Errorf("%s: %v after %q", name, err, there.requests())
		}
		r.Stop()
	}
}

func TestAViolationOfMCPEndsTheConnection(t *testing.T) {
	for name, stream := range map[string]string{
		"no JSON":   "data: hello\n\n",
		"too large": "data: " + strings.Repeat("x", maxInTests+1) + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			there := &site{
				get:  func(w http.ResponseWriter, _ *http.Request, _ int) { sendEvents(w, stream) },
				call: func(_ http.ResponseWriter, r *http.Request, _ json.RawMessage) { <-r.Context().Done() },
			}
			config := there.start(t)
			s := newSet(t)
			add(t, s, config)
			result := make(chan string, 1)
			go func() { result <- written(s.Call(t.Context(), quiet("test__x", `{}`))) }()
			if got := within(t, "the call", result); got != "error -32603: Connection closed" {
				t.Error(got)
			}
		})
	}
}

func TestAnAnswerWhoseStreamBreaksOff(t *testing.T) {
	calls := 0
	there := &site{
		get: func(w http.ResponseWriter, r *http.Request, _ int) {
			switch r.Header.Get("Last-Event-ID") {
			case "e1":
				sendEvents(w, `data: {"jsonrpc":"2.0","id":3,"result":`+done+`}`+"\n\n")
			default:
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		},
		call: func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			switch calls++; calls {
			case 1: // and nothing more
				sendEvents(w, ": hello\n\n")
			case 2: // which can be resumed
				if string(id) != "3" {
					t.Errorf("the id is %s", id)
				}
				sendEvents(w, "retry: 1\nid: e1\ndata:\n\n")
			case 3: // which cannot be resumed
				sendEvents(w, "retry: 1\nid: e2\ndata:\n\n")
			}
		},
	}
	config := there.start(t)
	s := newSet(t)
	add(t, s, config)
	for _, want := range []string{"error -32603: Connection closed", wasDone, "error -32603: Connection closed"} {
		result := make(chan string, 1)
		go func() { result <- written(s.Call(t.Context(), quiet("test__x", `{}`))) }()
		if got := within(t, "the call", result); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAnInvalidAnswerEndsOnlyItsCall(t *testing.T) {
	answers := []func(w http.ResponseWriter, id json.RawMessage){
		func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(http.StatusBadRequest) },
		func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(http.StatusUnauthorized) },
		func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(http.StatusNotFound) },
		func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(http.StatusMovedPermanently) },
		func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(http.StatusAccepted) },
		func(w http.ResponseWriter, _ json.RawMessage) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
		},
		func(w http.ResponseWriter, id json.RawMessage) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(id)+`,"result":{}}`)
		},
		func(w http.ResponseWriter, id json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(id))
		},
		func(http.ResponseWriter, json.RawMessage) { panic(http.ErrAbortHandler) },
	}
	var calls atomic.Int64
	there := &site{call: func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
		if n := calls.Add(1); n%2 == 1 {
			answers[n/2](w, id)
			return
		}
		sendJSON(w, id, done)
	}}
	s := newSet(t)
	add(t, s, there.start(t))
	for n := range answers {
		for _, want := range []string{"error -32603: Connection closed", wasDone} {
			result := make(chan string, 1)
			go func() { result <- written(s.Call(t.Context(), quiet("test__x", `{}`))) }()
			if got := within(t, "the call", result); got != want {
				t.Errorf("answer %d: %s, want %s", n, got, want)
			}
		}
	}
}

func TestAnInitializeThatIsNotAnswered(t *testing.T) {
	for name, tc := range map[string]struct{ kind, body string }{
		"a page":     {"text/html", "<html>"},
		"no type":    {"", "{}"},
		"no JSON":    {"application/json", "{"},
		"empty":      {"application/json", ""},
		"no JSONRPC": {"application/json", "{}"},
	} {
		host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if tc.kind != "" {
				w.Header().Set("Content-Type", tc.kind)
			}
			io.WriteString(w, tc.body)
		}))
		s := newSet(t)
		if err := s.Add(t.Context(), extension.Config{Type: "streamable_http", Name: "test", URI: host.URL}); err == nil || err.Error() != "Extension does not speak MCP" {
			t.Errorf("%s: %v", name, err)
		}
		host.Close()
	}
}

// overHTTP returns the transport of an extension.
func overHTTP(t *testing.T, config extension.Config) *client.HTTP {
	t.Helper()
	where, err := url.Parse(config.URI)
	if err != nil {
		t.Fatal(err)
	}
	return client.NewHTTP(true, config.URI, where, nil, 1000)
}
