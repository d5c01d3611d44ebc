package httpwire

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// answer is a response that contains the number of its connection.
func answer(n int) string {
	return ok + "Content-Length: 1\r\n\r\n" + string(rune('a'+n))
}

// answering is a server that answers every request.
func answering(n int, conn *net.TCPConn, r *bufio.Reader) {
	for readHead(r) != "" {
		io.WriteString(conn, answer(n))
	}
}

// checkBody does an exchange, and fails the test when that fails.
func checkBody(t *testing.T, c *Client, method, want string) {
	t.Helper()
	ex := do(t, c, method)
	fails(t, ex, none, "", "")
	if ex.Response == nil {
		t.Fatal("no response")
	}
	if got := string(ex.Response.Body.Bytes); got != want {
		t.Errorf("body %q, want %q", got, want)
	}
}

// awaitDead waits until the pool can see that its idle connection is dead.
func awaitDead(c *Client) {
	for c.pool.idle[0].alive() {
		runtime.Gosched()
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	c := dialer(t, loopback(t, answering), nil)
	for _, method := range []string{"GET", "POST", "GET"} {
		checkBody(t, c, method, "a")
	}
}

func TestAConnectionIsNotUsedAgain(t *testing.T) {
	for _, tc := range []struct {
		name    string
		version string
		says    string
		opts    Options
		req     Request
		spoil   func(*Client) // called between the two exchanges
	}{
		{name: "when the server says close", says: "Connection: x, CLOSE\r\nContent-Length: 1\r\n\r\n"},
		{name: "when the server speaks HTTP/1.0", version: "HTTP/1.0", says: "Connection: keep-alive\r\nContent-Length: 1\r\n\r\n"},
		{name: "when we say close", says: "Content-Length: 1\r\n\r\n", req: Request{Header: fields("connection", "close")}},
		{name: "when it was to have one exchange only", says: "Content-Length: 1\r\n\r\n", opts: Options{Idle: -1}},
		{name: "when it has waited for too long", says: "Content-Length: 1\r\n\r\n", spoil: func(c *Client) {
			c.pool.idle[0].since = c.pool.idle[0].since.Add(-1100 * time.Millisecond)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
				for readHead(r) != "" {
					io.WriteString(conn, cmp.Or(tc.version, "HTTP/1.1")+" 200 OK\r\n"+tc.says+string(rune('a'+n)))
				}
			}), &tc.opts)
			for _, want := range []string{"a", "b"} {
				tc.req.Method, tc.req.Target = "GET", "/"
				ex, err := c.Do(t.Context(), time.Now(), &tc.req)
				if err != nil {
					t.Fatal(err)
				}
				fails(t, ex, none, "", "")
				if got := string(ex.Response.Body.Bytes); got != want {
					t.Errorf("body %q, want %q", got, want)
				}
				if tc.spoil != nil && len(c.pool.idle) > 0 {
					tc.spoil(c)
				}
			}
		})
	}
}

func TestAConnectionThatIsClosedOrTalksWhileItWaitsIsNotUsed(t *testing.T) {
	for name, meanwhile := range map[string]func(*net.TCPConn){
		"closed":          func(c *net.TCPConn) { c.Close() },
		"half-closed":     func(c *net.TCPConn) { c.CloseWrite() },
		"reset":           func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"a late response": func(c *net.TCPConn) { io.WriteString(c, ok+"Content-Length: 1\r\n\r\n!") },
	} {
		t.Run(name, func(t *testing.T) {
			waits := make(chan struct{})
			c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(conn, answer(n))
				if n == 0 {
					<-waits
					meanwhile(conn)
				}
				readHead(r) // until the client closes
			}), nil)
			checkBody(t, c, "POST", "a")
			close(waits)
			awaitDead(c)
			checkBody(t, c, "POST", "b")
		})
	}
}

func TestARequestThatMeetsTheClosingIsSentAgainIfThatIsSafe(t *testing.T) {
	for _, tc := range []struct {
		method string
		says   string // sent instead of a response
		reset  bool
		want   string // the response to the second request; empty if it fails
		kind   transcript.FailureKind
	}{
		{"GET", "", false, "b", none},
		{"GET", "", true, "b", none},
		{"DELETE", "", false, "b", none},
		{"PUT", "", true, "b", none},
		{"POST", "", false, "", closed},
		{"POST", "", true, "", transcript.FailReset},
		{"PATCH", "", false, "", closed},
		{"x-whatever", "", false, "", closed},
		{"GET", "H", false, "", closed},
		{"GET", "HTTP/1.1 100 Continue\r\n\r\n", false, "", closed},
	} {
		t.Run(tc.method, func(t *testing.T) {
			var connections atomic.Int32
			c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
				connections.Add(1)
				readHead(r)
				io.WriteString(conn, answer(n))
				readHead(r)
				io.WriteString(conn, tc.says)
				if tc.reset {
					conn.SetLinger(0)
				}
			}), nil)
			checkBody(t, c, "GET", "a")
			ex := do(t, c, tc.method)
			fails(t, ex, tc.kind, inHead, "")
			if tc.want != "" && string(ex.Response.Body.Bytes) != tc.want {
				t.Errorf("body %q, want %q", ex.Response.Body.Bytes, tc.want)
			}
			if want := int32(len(tc.want) + 1); connections.Load() != want {
				t.Errorf("%d connections, want %d", connections.Load(), want)
			}
		})
	}
}

func TestARequestIsSentAgainOnceAndNeverFromAFreshConnection(t *testing.T) {
	var connections atomic.Int32
	c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
		connections.Add(1)
		readHead(r)
		if n == 0 {
			io.WriteString(conn, answer(n))
			readHead(r)
		}
	}), nil)
	checkBody(t, c, "GET", "a")
	fails(t, do(t, c, "GET"), closed, inHead, "")
	if connections.Load() != 2 {
		t.Errorf("%d connections, want 2", connections.Load())
	}
	fails(t, do(t, c, "GET"), closed, inHead, "")
	if connections.Load() != 3 {
		t.Errorf("%d connections, want 3", connections.Load())
	}
}

func TestThePoolIsBounded(t *testing.T) {
	const n = maxIdle + 10
	base := loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(conn, ok+"Content-Length: 0\r\n\r\n")
		readHead(r)
	})
	c := dialer(t, base, &Options{Idle: time.Hour})
	var opened []*conversation
	for range n {
		_, cv, err := c.begin(t.Context(), time.Now(), &Request{Method: "GET", Target: "/"})
		if err != nil || cv == nil {
			t.Fatal(err)
		}
		opened = append(opened, cv)
	}
	for _, cv := range opened {
		c.readRest(t.Context(), time.Now(), &transcript.Exchange{Response: &transcript.Response{}}, cv)
	}
	if len(c.pool.idle) != maxIdle {
		t.Errorf("%d connections wait, want %d", len(c.pool.idle), maxIdle)
	}
	if c.pool.idle[0] != opened[10].cn {
		t.Error("it is not the oldest ones that were closed")
	}
	c.Close()
	if len(c.pool.idle) != 0 {
		t.Errorf("%d connections wait after Close", len(c.pool.idle))
	}
	fails(t, do(t, c, "GET"), none, "", "")
	if len(c.pool.idle) != 0 {
		t.Error("a connection waits after Close")
	}
}

func TestAConnectionThatCannotBeLookedAtIsNotKept(t *testing.T) {
	dials := 0
	c := piped(t, Options{}, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for readHead(r) != "" {
			io.WriteString(conn, strings.Replace(answer(0), "a", "x", 1))
		}
	})
	dial := c.opts.Dial
	c.opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials++
		return dial(ctx, network, addr)
	}
	checkBody(t, c, "GET", "x")
	checkBody(t, c, "GET", "x")
	if dials != 2 {
		t.Errorf("%d connections, want 2", dials)
	}
}

func TestAHugeHeadLeavesNoHugeBuffer(t *testing.T) {
	c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(conn, ok+"A: "+strings.Repeat("x", 500<<10)+"\r\nContent-Length: 1\r\n\r\na")
		readHead(r)
		io.WriteString(conn, answer(n))
		readHead(r)
	}), nil)
	checkBody(t, c, "GET", "a")
	checkBody(t, c, "GET", "a")
	if n := len(c.pool.idle[0].buf); n != connBuffer {
		t.Errorf("the connection keeps a buffer of %d bytes", n)
	}
}

func TestAContextThatEndsAtTheLastMoment(t *testing.T) {
	goOn := make(chan struct{})
	c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		if io.WriteString(conn, answer(n)); n == 1 {
			<-goOn
			io.WriteString(conn, "!")
		}
		readHead(r)
	}), nil)
	begin := func() (*transcript.Exchange, *conversation) {
		ctx, cancel := context.WithCancel(t.Context())
		ex, cv, err := c.begin(ctx, time.Now(), &Request{Method: "GET", Target: "/"})
		if err != nil || cv == nil {
			t.Fatalf("begin: %+v, %v", ex, err)
		}
		cancel()
		return ex, cv
	}
	ex, cv := begin() // everything has been received, so nothing can be interrupted
	c.readRest(t.Context(), time.Now(), ex, cv)
	fails(t, ex, none, "", "")
	if len(c.pool.idle) != 0 {
		t.Error("a connection with a deadline waits in the pool")
	}
	_, cv = begin()
	cv.detach()
	defer cv.Close()
	cv.body.framing = untilClose // so that there is something to wait for
	close(goOn)
	got := make([]byte, 2)
	if _, err := io.ReadFull(cv, got); string(got) != "b!" || err != nil {
		t.Errorf("body %q, %v, want b!", got, err)
	}
}

func TestAConnectionWithHalfARequestOnItIsNotUsedAgain(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(conn, answer(n))
		<-over
	}), nil)
	for _, want := range []string{"a", "b"} {
		ex, err := c.Do(t.Context(), time.Now(), &Request{Method: "POST", Target: "/", Body: make([]byte, 64<<20)})
		if err != nil {
			t.Fatal(err)
		}
		fails(t, ex, none, "", "")
		if got := string(ex.Response.Body.Bytes); got != want {
			t.Errorf("body %q, want %q", got, want)
		}
	}
}
