package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// The tests in this file need what only sockets have: half-close, reset, system buffers. Each waits for an event,
// with a time limit that a passing test never reaches.
const limit = 20 * time.Second

// tcpStream is a stream on a socket, whose body is read line by line.
type tcpStream struct {
	t     *testing.T
	conn  *net.TCPConn
	lines *bufio.Reader
}

func (r *rig) openTCP(target string) *tcpStream {
	r.t.Helper()
	c := r.connect("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n").(*net.TCPConn)
	r.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(limit))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		r.t.Fatalf("%s: %v", target, err)
	}
	return &tcpStream{r.t, c, bufio.NewReader(resp.Body)}
}

// next reads the next event and returns its data.
func (s *tcpStream) next() string {
	s.t.Helper()
	for data := ""; ; {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			s.t.Fatalf("waiting for an event: %v", err)
		}
		if line == "\n" {
			return data
		}
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			data = strings.TrimSuffix(rest, "\n")
		}
	}
}

// want reads the next event and checks its data.
func (s *tcpStream) want(data string) {
	s.t.Helper()
	same(s.t, "event", data, s.next())
}

// TestADisconnectIsNoticedAtOnce closes a pending stream in every possible way, and waits for the event.
func TestADisconnectIsNoticedAtOnce(t *testing.T) {
	for _, tc := range []struct {
		name string
		how  func(t *testing.T, s *tcpStream)
	}{
		{"FIN", func(_ *testing.T, s *tcpStream) { s.conn.Close() }},
		{"reset", func(t *testing.T, s *tcpStream) {
			if err := s.conn.SetLinger(0); err != nil {
				t.Fatal(err)
			}
			s.conn.Close()
		}},
		{"half-close", func(t *testing.T, s *tcpStream) {
			if err := s.conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			// The client continues to read: the server must close the connection properly.
			if rest, err := io.ReadAll(s.lines); err != nil || len(rest) > 0 {
				t.Errorf("after a half-close the stream goes on with %q and ends with %v, want its end", rest, err)
			}
			if n, err := s.conn.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("after the stream the connection gives %d bytes, %v; want its end", n, err)
			}
		}},
		{"half-close behind stray bytes", func(t *testing.T, s *tcpStream) {
			if _, err := io.WriteString(s.conn, "GET /status HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			s.conn.CloseWrite()
			if rest, err := io.ReadAll(s.lines); err != nil || len(rest) > 0 {
				t.Errorf("the stream goes on with %q and ends with %v, want its end", rest, err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := startTCP(t, server.Config{})
			bus := r.openTCP("/event")
			bus.want(`{"type":"server.connected","properties":{}}`)
			r.register("c", "a")
			bus.want(registeredEvent("c", "client_c_a"))
			pending := r.openTCP("/client-tools/pending/c")
			answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
			pending.want(request("client_c_a", "r"))
			bus.want(executingEvent("c", "client_c_a"))
			bus.want(requestEvent("c", "client_c_a", "r"))

			tc.how(t, pending)
			bus.want(failedEvent("c", "client_c_a", "Client disconnected"))
			bus.want(unregisteredEvent("c", "client_c_a"))
			(<-answered).is(t, "execute", 500, coded("INTERNAL_ERROR", "Client disconnected"))
		})
	}
}

// TestAHalfCloseOfACallerWithdrawsItsExecution checks that such a caller counts as having left (decision S31).
func TestAHalfCloseOfACallerWithdrawsItsExecution(t *testing.T) {
	r := startTCP(t, server.Config{})
	r.register("c", "a")
	pending := r.openTCP("/client-tools/pending/c")
	c := r.connect(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`)).(*net.TCPConn)
	defer c.Close()
	pending.want(request("client_c_a", "r"))
	c.CloseWrite()
	c.SetDeadline(time.Now().Add(limit))
	if all, _ := io.ReadAll(c); len(all) > 0 {
		t.Errorf("the caller that closed its sending side is answered %q", all)
	}
	r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"error","error":""}}`).is(t, "result", 404, `{"error":"Unknown request ID"}`)
}

// TestAReaderThatDoesNotReadIsDroppedAndDelaysNoOther fills the system's buffers, and then the queues.
func TestAReaderThatDoesNotReadIsDroppedAndDelaysNoOther(t *testing.T) {
	r := startTCP(t, server.Config{Queue: events.Options{MaxBytes: 2 << 20}})
	r.register("slow", "a")
	stuck, stuckBus := r.openTCP("/client-tools/pending/slow"), r.openTCP("/event")
	for _, s := range []*tcpStream{stuck, stuckBus} {
		if err := s.conn.SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
	}
	bus := r.openTCP("/event")
	bus.want(`{"type":"server.connected","properties":{}}`)

	// Each request is sent after the other reader has received the previous one.
	input := `{"x":"` + strings.Repeat("x", 256<<10) + `"}`
	dropped := false
	for i := 0; !dropped; i++ {
		if i == 200 {
			t.Fatal("50 MB were sent to a reader that does not read")
		}
		r.start(withJSON("POST /client-tools/execute", fmt.Sprintf(`{"toolID":"client_slow_a","requestID":"%d","input":%s}`, i, input)))
		for seen := false; !seen && !dropped; {
			data := bus.next()
			seen = strings.HasPrefix(data, `{"type":"client-tool.request"`)
			dropped = strings.HasPrefix(data, `{"type":"client-tool.unregistered"`)
		}
	}
	r.do("GET /client-tools/tools").is(t, "tools", 200, "{}")
	for _, want := range []string{`msg="stream dropped" stream=pending client=slow`, `msg="stream dropped" stream=directory`} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, r.log)
		}
	}
}

func TestInvalidEscapesInTargetsReachTheServer(t *testing.T) {
	r := startTCP(t, server.Config{})
	r.register("a%ZZ", "t")
	for _, target := range []string{"/client-tools/tools/a%ZZ", "/client-tools/tools/a%25ZZ", "http://test/client-tools/tools/a%ZZ?%"} {
		r.do("GET "+target).is(t, target, 200, `[{"id":"client_a%ZZ_t","description":"","parameters":{}}]`)
	}
}

func TestAClientThatSendsFarTooMuchGetsItsAnswer(t *testing.T) {
	r := startTCP(t, server.Config{MaxBodyBytes: 1000})
	const size = 8 << 20
	c := r.connect("").(*net.TCPConn)
	defer c.Close()
	c.SetDeadline(time.Now().Add(limit))
	head := fmt.Sprintf("POST /client-tools/register HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n", size)
	if _, err := io.WriteString(c, head+strings.Repeat("x", size)); err != nil {
		t.Fatalf("sending all of it before reading: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	answer{resp.StatusCode, resp.Header, string(body)}.is(t, "answer", 413, `{"error":"Request body too large"}`)
	if err != nil {
		t.Error(err)
	}
}

func TestServeEndsWhenItsListenerIsClosed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(server.Config{Directory: "/", Directories: settings.Below(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(t.Context(), ln) }()
	ln.Close()
	if err := <-served; err == nil {
		t.Error("Serve: no error, though its listener was closed by somebody else")
	}
}

// TestAClientThatStopsInTheMiddleOfABody closes the client's sending side there, and continues to read (decision
// S38).
func TestAClientThatStopsInTheMiddleOfABody(t *testing.T) {
	r := startTCP(t, server.Config{})
	bus := r.openTCP("/event")
	bus.want(`{"type":"server.connected","properties":{}}`)
	for request, want := range map[string]int{
		"POST /client-tools/register HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 40":               0,
		"POST /client-tools/register HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked":       0,
		"POST /client-tools/execute HTTP/1.1\r\nContent-Length: 40":                                                  0,
		"GET /client-tools/pending/x HTTP/1.1\r\nContent-Length: 40":                                                 0,
		"POST /agent/start HTTP/1.1\r\nX-Secret-Key: test\r\nContent-Type: application/json\r\nContent-Length: 40":   0,
		"POST /reply HTTP/1.1\r\nX-Secret-Key: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked": 0,
		"POST /agent/start HTTP/1.1\r\nX-Secret-Key: test\r\nContent-Type: text/plain\r\nContent-Length: 40":         415,
		"POST /agent/start HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 40":                         401,
		"POST /nowhere HTTP/1.1\r\nX-Secret-Key: test\r\nContent-Length: 40":                                         404,
	} {
		c := r.connect("").(*net.TCPConn)
		defer c.Close()
		c.SetDeadline(time.Now().Add(limit))
		body := `{"working_dir":"/w"`
		if strings.Contains(request, "chunked") {
			body = fmt.Sprintf("%x\r\n%s", 40, body)
		}
		if _, err := io.WriteString(c, request+"\r\nHost: test\r\n\r\n"+body); err != nil {
			t.Fatal(err)
		}
		c.CloseWrite()
		all, err := io.ReadAll(c)
		got := 0
		fmt.Sscanf(string(all), "HTTP/1.1 %d", &got)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want status %d, and no answer if that is 0", request, all, err, want)
		}
	}
	r.get("GET /sessions/insights").is(t, "nothing is done", 200, `{"totalSessions":0,"totalTokens":0}`)
}

// TestAnEarlyAnswerEndsItsConnection sends heads of requests whose bodies are refused before they arrive, and never
// arrive (decision S53).
func TestAnEarlyAnswerEndsItsConnection(t *testing.T) {
	r := startTCP(t, server.Config{})
	for request, want := range map[string]int{
		"POST /client-tools/register HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n":                         413,
		"POST /client-tools/register HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n": 413,
		"POST /nope HTTP/1.1\r\nHost: test\r\nX-Secret-Key: test\r\nContent-Length: 5\r\nConnection: close\r\n\r\n":         404,
		"POST /agent/start HTTP/1.1\r\nHost: test\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n":                    401,
		"POST /agent/start HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n":               401,
		"POST /client-tools/register HTTP/1.0\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n":                         413,
	} {
		c := r.connect(request)
		c.SetDeadline(time.Now().Add(limit))
		all, err := io.ReadAll(c)
		if _, statusLine, _ := strings.Cut(string(all), " "); err != nil || !strings.HasPrefix(statusLine, fmt.Sprint(want)) {
			t.Fatalf("%q: %q, %v; want %d and the end of the connection", request, all, err, want)
		}
		if head, _, _ := strings.Cut(string(all), "\r\n\r\n"); strings.HasPrefix(head, "HTTP/1.1 ") && !strings.Contains(head, "\r\nConnection: close") {
			t.Errorf("%q: %q, want Connection: close", request, head)
		}
		c.Close()
	}
}

// TestARequestOfTwoLengthsEndsItsConnection sends bytes after the request that must not be read as requests (decision
// S42).
func TestARequestOfTwoLengthsEndsItsConnection(t *testing.T) {
	const behind = "0\r\n\r\nGET /status HTTP/1.1\r\nHost: test\r\n\r\n"
	r := start(t, server.Config{})
	for _, head := range []string{
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"transfer-encoding: chunked\r\nX: y\r\ncontent-length:4\r\n",
		"Transfer-Encoding: chunked\nContent-Length: 0\n",
	} {
		for _, pieces := range [][]string{
			{"POST /client-tools/register HTTP/1.1\r\nHost: test\r\n" + head + "\r\n" + behind},
			{"POST /nope HTTP/1.1\r\nHost: te", "st\r\n" + head[:9], head[9:] + "\r\n", behind},
			{"GET /status HTTP/1.1\r\nHost: test\r\n\r\n", "GET /event HTTP/1.1\r\nHost: test\r\n" + head + "\r\n" + behind},
		} {
			c := r.connect(pieces[0])
			c.SetDeadline(time.Now().Add(limit))
			in := bufio.NewReader(c)
			if len(pieces) == 2 { // the first request is answered before the second is sent
				if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != 200 {
					t.Fatalf("the request before: %v, %v", resp, err)
				} else {
					io.Copy(io.Discard, resp.Body)
				}
			}
			go func() { // the server may never read it
				for _, piece := range pieces[1:] {
					io.WriteString(c, piece)
				}
			}()
			all, err := io.ReadAll(in)
			if text := string(all); !strings.HasPrefix(text, "HTTP/1.1 400 ") || strings.Count(text, "HTTP/1.1 ") != 1 {
				t.Errorf("%q: %q, %v; want 400 and the end of the connection", pieces, text, err)
			}
			c.Close()
		}
	}
}

// TestARequestOfHTTP10HasNoChunks checks decision S52.
func TestARequestOfHTTP10HasNoChunks(t *testing.T) {
	r := start(t, server.Config{})
	c := r.connect("GET /status HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	defer c.Close()
	c.SetDeadline(time.Now().Add(limit))
	if all, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(all), "HTTP/1.0 400 ") {
		t.Errorf("%q, %v; want 400 and the end of the connection", all, err)
	}
}

func TestAPipelinedRequestInChunksEndsItsConnection(t *testing.T) {
	r := start(t, server.Config{})
	const status = "GET /status HTTP/1.1\r\nHost: test\r\n\r\n"
	c := r.connect(status + "POST /client-tools/register HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + status)
	defer c.Close()
	c.SetDeadline(time.Now().Add(limit))
	all, _ := io.ReadAll(c)
	if got := strings.Count(string(all), "HTTP/1.1 "); got != 2 {
		t.Errorf("%d answers, want 2 and the end of the connection: %q", got, all)
	}
}
