package server_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	"github.com/lockstep-dev/lockstep/server/settings"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// A rig is a running server, with what a test needs to talk to it.
type rig struct {
	t    *testing.T
	dial func() (net.Conn, error)
	log  *syncbuffer.Buffer
	// stop stops the server and waits until it has stopped.
	stop func()
}

// start serves without a port until the test ends. It is for use inside a synctest bubble.
func start(t *testing.T, config server.Config) *rig {
	ln := memnet.Listen()
	return serve(t, config, ln, func() (net.Conn, error) { return ln.Dial(t.Context()) })
}

// startTCP serves on a port, for features that pipes do not have.
func startTCP(t *testing.T, config server.Config) *rig {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, config, ln, func() (net.Conn, error) { return net.Dial("tcp", ln.Addr().String()) })
}

func serve(t *testing.T, config server.Config, ln net.Listener, dial func() (net.Conn, error)) *rig {
	t.Helper()
	log := new(syncbuffer.Buffer)
	config.Directory = cmp.Or(config.Directory, "/default")
	if config.Access.Origins == nil {
		config.Access.Origins = []string{access.Any} // the requests have the host "test"
	}
	if config.Directories == (settings.Directories{}) {
		config.Directories = settings.Below(t.TempDir())
	}
	config.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	srv, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, ln) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &rig{t: t, dial: dial, log: log, stop: stop}
}

// An answer is the answer to one request.
type answer struct {
	status int
	header http.Header
	body   string
}

// connect opens a connection and sends bytes on it.
func (r *rig) connect(send string) net.Conn {
	r.t.Helper()
	c, err := r.tryConnect(send)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) tryConnect(send string) (net.Conn, error) {
	c, err := r.dial()
	if err == nil {
		// This needs its own goroutine, because the server may answer before it has read everything.
		go io.WriteString(c, send)
	}
	return c, err
}

// send sends one request unchanged, and reads the answer.
func (r *rig) send(raw string) answer {
	r.t.Helper()
	a, err := r.try(raw)
	if err != nil {
		r.t.Fatalf("%.80q: %v", raw, err)
	}
	return a
}

// try is send for goroutines other than that of the test.
func (r *rig) try(raw string) (answer, error) {
	c, err := r.tryConnect(raw)
	if err != nil {
		return answer{}, err
	}
	return answerOn(c, raw)
}

// answerOn reads the answer to the request that was sent on a connection.
func answerOn(c net.Conn, raw string) (answer, error) {
	defer c.Close()
	method, _, _ := strings.Cut(raw, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}, err
}

// do sends a request without a body: "GET /path", with headers as lines.
func (r *rig) do(request string, headers ...string) answer {
	r.t.Helper()
	return r.send(request + " HTTP/1.1\r\nHost: test\r\n" + lines(headers) + "\r\n")
}

// json sends a request with a JSON body.
func (r *rig) json(request, body string, headers ...string) answer {
	r.t.Helper()
	return r.send(withJSON(request, body, headers...))
}

func withJSON(request, body string, headers ...string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", request, len(body), lines(headers), body)
}

func lines(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	return strings.Join(headers, "\r\n") + "\r\n"
}

// start sends a request whose answer is read later. It connects before it returns, because later the test and its
// server may be gone.
func (r *rig) start(raw string) <-chan answer {
	r.t.Helper()
	c := r.connect(raw)
	answered := make(chan answer, 1)
	go func() {
		a, err := answerOn(c, raw)
		if err != nil {
			a.body = "no answer: " + err.Error()
		}
		answered <- a
	}()
	return answered
}

// A stream is an open event stream.
type stream struct {
	t      *testing.T
	conn   net.Conn
	answer answer // without the body
	ended  chan struct{}

	mu     sync.Mutex
	frames []string
	err    error // how the body ended
}

// open opens an event stream. It returns when the head has arrived.
func (r *rig) open(target string, headers ...string) *stream {
	r.t.Helper()
	c := r.connect("GET " + target + " HTTP/1.1\r\nHost: test\r\n" + lines(headers) + "\r\n")
	r.t.Cleanup(func() { c.Close() })
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		r.t.Fatalf("%s: %v", target, err)
	}
	s := &stream{t: r.t, conn: c, answer: answer{status: resp.StatusCode, header: resp.Header}, ended: make(chan struct{})}
	go s.read(bufio.NewReader(resp.Body))
	return s
}

func (s *stream) read(body *bufio.Reader) {
	defer close(s.ended)
	var frame strings.Builder
	for {
		line, err := body.ReadString('\n')
		frame.WriteString(line)
		s.mu.Lock()
		if line == "\n" || err != nil && frame.Len() > 0 {
			s.frames = append(s.frames, frame.String())
			frame.Reset()
		}
		s.err = err
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take waits until all goroutines are idle, and returns the frames that have arrived since its last call.
func (s *stream) take() []string {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	frames := s.frames
	s.frames = nil
	return frames
}

// close disconnects like a client, and waits until the server has noticed.
func (s *stream) close() {
	s.conn.Close()
	synctest.Wait()
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// is checks the status and the body of an answer.
func (a answer) is(t *testing.T, what string, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("%s: %d %s\nwant %d %s", what, a.status, a.body, status, body)
	}
}

func data(json string) string { return "data: " + json + "\n\n" }

// register registers tools of a client with the given short names.
func (r *rig) register(client string, tools ...string) {
	r.t.Helper()
	definitions := make([]string, len(tools))
	for i, id := range tools {
		definitions[i] = `{"id":"` + id + `","description":"","parameters":{}}`
	}
	a := r.json("POST /client-tools/register", `{"clientID":"`+client+`","tools":[`+strings.Join(definitions, ",")+`]}`)
	if a.status != 200 {
		r.t.Fatalf("register: %d %s", a.status, a.body)
	}
}

func TestNewNamesEveryMistake(t *testing.T) {
	_, err := server.New(server.Config{DefaultTimeout: -1, MaxBodyBytes: -1, StopTimeout: -time.Second})
	if err == nil {
		t.Fatal("New accepted a bad configuration")
	}
	for _, want := range []string{"Directory ", "Directories", "DefaultTimeout", "MaxBodyBytes", "StopTimeout"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v\ndoes not name %s", err, want)
		}
	}
}

func TestServeReportsAListenerThatFails(t *testing.T) {
	srv, err := server.New(server.Config{Directory: "/", Directories: settings.Below(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	ln := memnet.Listen()
	ln.Close()
	if err := srv.Serve(t.Context(), ln); err == nil || !strings.Contains(err.Error(), "serve on mem") {
		t.Errorf("Serve on a closed listener: %v, want an error that names it", err)
	}
}
