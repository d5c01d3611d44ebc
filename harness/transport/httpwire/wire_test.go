package httpwire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// TestMain checks that no goroutine of this package outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	var stacks string
	for range 1000 {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		if strings.Count(stacks, "transport/httpwire.") == 1 { // this function
			os.Exit(code)
		}
		runtime.Gosched()
	}
	os.Stderr.WriteString("goroutines outlive the tests:\n" + stacks)
	os.Exit(1)
}

// A wire is a connection without a network. Its server sends the pieces of the script, and then ends with an error. It
// never waits, and keeps what is sent to it.
type wire struct {
	net.Conn
	script []string
	end    error // nil means io.EOF
	sent   strings.Builder
	closed bool
}

func (w *wire) Read(p []byte) (int, error) {
	for len(w.script) > 0 && w.script[0] == "" {
		w.script = w.script[1:]
	}
	if len(w.script) == 0 {
		if w.end != nil {
			return 0, w.end
		}
		return 0, io.EOF
	}
	n := copy(p, w.script[0])
	w.script[0] = w.script[0][n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error)      { return w.sent.Write(p) }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
func (w *wire) Close() error                     { w.closed = true; return nil }

// client returns a client whose only connection is this one.
func (w *wire) client(opts Options) *Client {
	opts.Dial = func(context.Context, string, string) (net.Conn, error) { return w, nil }
	return NewClient(&url.URL{Scheme: "http", Host: "wire"}, &opts)
}

// piped returns a client whose server is at the other end of a pipe. Such a connection can wait, and works in a bubble
// of synctest. The function serves each connection in its own goroutine, which ends before the test does.
func piped(t *testing.T, opts Options, serve func(net.Conn)) *Client {
	var servers sync.WaitGroup
	opts.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		servers.Go(func() {
			defer server.Close()
			serve(server)
		})
		return client, nil
	}
	c := NewClient(&url.URL{Scheme: "http", Host: "pipe"}, &opts)
	t.Cleanup(func() {
		c.Close()
		servers.Wait()
	})
	return c
}

// loopback returns the URL of a server on a real socket, for what pipes cannot do: resets, half-closed connections,
// connections that are used again. Each connection is served in its own goroutine, and has a number.
func loopback(t *testing.T, serve func(n int, conn *net.TCPConn, r *bufio.Reader)) *url.URL {
	t.Helper()
	if testing.Short() {
		t.Skip("uses sockets")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var servers sync.WaitGroup
	servers.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			servers.Go(func() {
				defer conn.Close()
				serve(n, conn.(*net.TCPConn), bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		servers.Wait()
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// dialer returns a client for the server. The client is closed before the server is waited for.
func dialer(t *testing.T, base *url.URL, opts *Options) *Client {
	c := NewClient(base, opts)
	t.Cleanup(c.Close)
	return c
}

// readHead reads the head of a request, and returns its first line; "" when the connection has ended.
func readHead(r *bufio.Reader) string {
	first, err := r.ReadString('\n')
	for line := first; err == nil && line != "\r\n"; {
		line, err = r.ReadString('\n')
	}
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(first, "\r\n")
}

// do does an exchange, and fails the test when the request cannot be sent.
func do(t *testing.T, c *Client, method string) *transcript.Exchange {
	t.Helper()
	ex, err := c.Do(t.Context(), time.Now(), &Request{Method: method, Target: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return ex
}

// fails checks how an exchange failed. An empty kind means that it must not fail.
func fails(t *testing.T, ex *transcript.Exchange, kind transcript.FailureKind, phase transcript.Phase, text string) {
	t.Helper()
	switch f := ex.Failure; {
	case f == nil && kind != "":
		t.Errorf("no failure, want %s in phase %s", kind, phase)
	case f != nil && (f.Kind != kind || f.Phase != phase || !strings.Contains(f.Text, text)):
		t.Errorf("failure %s in phase %s: %s\nwant %s in phase %s: %s", f.Kind, f.Phase, f.Text, kind, phase, text)
	}
}

var errTest = errors.New("the step is over")

// fields makes a header from names and values.
func fields(pairs ...string) transcript.Header {
	var h transcript.Header
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, transcript.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

// The errors that end connections.
var (
	errTLSCut   = io.ErrUnexpectedEOF
	errReset    = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errDeadline = os.ErrDeadlineExceeded
)

// open sends a request and reads the head of the response. The conversation is nil when no head came. From then on, ctx
// does not matter.
func (c *Client) open(ctx context.Context, start time.Time, req *Request) (*transcript.Exchange, *conversation, error) {
	ex, cv, err := c.begin(ctx, start, req)
	if cv != nil {
		cv.detach()
		ex.Done = ex.Head
	}
	return ex, cv, err
}

// stream is OpenStream, but waits for the head. The Stream is nil when the response is not an event stream.
func (c *Client) stream(
	ctx context.Context, start time.Time, req *Request, opts *watch.Options,
) (*transcript.Exchange, *Stream, error) {
	counted := watch.Options{}
	if opts != nil {
		counted = *opts
	}
	counted.Start = start
	s := c.OpenStream(ctx, start, req, func(body io.ReadCloser) *watch.Watch { return sse.Open(body, &counted) })
	ex, is, err := s.Opened()
	if !is {
		s.Close()
		s = nil
	}
	return ex, s, err
}

// reset closes a connection with a reset.
func (cv *conversation) reset() error {
	cv.resetting.Store(true)
	return cv.Close()
}
