package clienttools_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/coder/websocket"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

// A script is a server in memory. It answers as its fields say, and records requests.
type script struct {
	t      *testing.T
	client *http.Client

	mu       sync.Mutex
	requests []string
	answer   map[string][]response // by method and path; the last one stays
	streams  map[*stream]bool      // that are open
	opened   int
	deaf     bool // it never reads from sockets
	errors   []error
	waits    []string
}

type response struct {
	status int // default: 200
	body   string
}

// A stream is a pending stream, or a socket.
type stream struct {
	send chan string // an event's data, or a message
	lost chan struct{}
}

// newScript starts a server for a test in a bubble.
func newScript(t *testing.T) *script {
	s := &script{t: t, answer: map[string][]response{}, streams: map[*stream]bool{}}
	ln := memnet.Listen()
	memnet.Serve(t, &http.Server{Handler: s}, ln)
	s.client = ln.Client()
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// newClient returns a client of the script, which is closed at the end of the test.
func (s *script) newClient(o clienttools.Options) *clienttools.Client {
	s.t.Helper()
	o.ClientID, o.HTTPClient = cmp.Or(o.ClientID, "c1"), s.client
	o.OnError = func(err error) { s.note(func() { s.errors = append(s.errors, err) }) }
	o.OnReconnect = func(n int, wait time.Duration) {
		s.note(func() { s.waits = append(s.waits, fmt.Sprint(n, " ", wait)) })
	}
	c, err := clienttools.New("http://mem", &o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return c
}

func (s *script) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *script) set(request string, all ...response) { s.note(func() { s.answer[request] = all }) }

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.EscapedPath()
	var a response
	scripted := false
	s.note(func() {
		s.requests = append(s.requests, strings.TrimSpace(key+" "+string(body)))
		var all []response
		if all, scripted = s.answer[key]; scripted {
			a = all[0]
			if len(all) > 1 {
				s.answer[key] = all[1:]
			}
		}
	})
	switch {
	case a.status != 0 && a.status != http.StatusOK, scripted && a.body != "":
		w.WriteHeader(cmp.Or(a.status, http.StatusOK))
		io.WriteString(w, a.body)
	case strings.HasPrefix(key, "GET /client-tools/pending/"):
		s.events(w, r)
	case strings.HasPrefix(key, "GET /client-tools/ws/"):
		s.socket(w, r)
	default:
		io.WriteString(w, `{"success":true}`)
	}
}

func (s *script) open() *stream {
	st := &stream{make(chan string), make(chan struct{})}
	s.note(func() { s.streams[st] = true; s.opened++ })
	return st
}

func (s *script) events(w http.ResponseWriter, r *http.Request) {
	st := s.open()
	defer s.note(func() { delete(s.streams, st) })
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	for {
		select {
		case event := <-st.send:
			io.WriteString(w, event)
			http.NewResponseController(w).Flush()
		case <-st.lost:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *script) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	st := s.open()
	read := make(chan struct{})
	go func() {
		defer close(read)
		if s.deaf {
			<-st.lost
			return
		}
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				s.note(func() { s.requests = append(s.requests, fmt.Sprint("closed ", int(websocket.CloseStatus(err)))) })
				return
			}
			s.note(func() { s.requests = append(s.requests, "message "+string(data)) })
		}
	}()
	defer func() {
		conn.CloseNow()
		<-read
		s.note(func() { delete(s.streams, st) })
	}()
	for {
		select {
		case m := <-st.send:
			if err := conn.Write(context.Background(), websocket.MessageText, []byte(m)); err != nil {
				return
			}
		case <-st.lost:
			return
		case <-read:
			return
		}
	}
}

// current returns the only open stream.
func (s *script) current() *stream {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.streams) != 1 {
		s.t.Fatalf("%d streams are open, want 1; requests:\n%s", len(s.streams), strings.Join(s.requests, "\n"))
	}
	for st := range s.streams {
		return st
	}
	return nil
}

// send sends an event of the pending stream, or a message of the socket.
func (s *script) send(text string) {
	s.t.Helper()
	s.current().send <- text
	synctest.Wait()
}

// lose ends the open stream.
func (s *script) lose() {
	s.t.Helper()
	close(s.current().lost)
	synctest.Wait()
}

// call sends a request for a tool.
func (s *script) call(id, tool, input string) { s.t.Helper(); s.send(toolRequest(id, tool, input)) }

func toolRequest(id, tool, input string) string {
	return "event: tool-request\ndata: " + requestJSON(id, tool, input) + "\n\n"
}

func requestJSON(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"client-tool-request","requestID":%q,"sessionID":"ses","messageID":"msg","callID":"call","tool":"client_c1_%s","input":%s}`, id, tool, input)
}

// want compares the requests since the last want.
func (s *script) want(requests ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := gocmp.Diff(requests, s.requests); diff != "" {
		s.t.Errorf("requests (-want +got):\n%s", diff)
	}
	s.requests = nil
}

// reported compares the errors and waits that the client reported, since the last call.
func (s *script) reported(errors []string, waits []string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, err := range s.errors {
		got = append(got, err.Error())
	}
	if !slices.Equal(got, errors) || !slices.Equal(s.waits, waits) {
		s.t.Errorf("reported errors %q and waits %q, want %q and %q", got, s.waits, errors, waits)
	}
	s.errors, s.waits = nil, nil
}

// echo is a tool that returns its input.
func echo(id string) clienttools.ClientTool {
	return clienttools.ClientTool{
		Definition: clienttools.Definition{ID: id, Description: "d", Parameters: []byte(`{}`)},
		Handle: func(_ context.Context, call *clienttools.Call) (*clienttools.Result, error) {
			return &clienttools.Result{Title: "echo", Output: string(call.Input)}, nil
		},
	}
}

const (
	register     = "POST /client-tools/register"
	pending      = "GET /client-tools/pending/c1"
	list         = "GET /client-tools/tools/c1"
	registerNone = register + ` {"clientID":"c1","tools":[]}`
	registerEcho = register + ` {"clientID":"c1","tools":[{"id":"echo","description":"d","parameters":{}}]}`
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
