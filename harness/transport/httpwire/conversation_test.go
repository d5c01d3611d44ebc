package httpwire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// open begins an exchange, and fails the test when no head comes.
func open(t *testing.T, c *Client) (*transcript.Exchange, *conversation) {
	t.Helper()
	ex, cv, err := c.open(t.Context(), time.Now(), &Request{Method: "GET", Target: "/"})
	if err != nil || cv == nil {
		t.Fatalf("Open: %+v, %v", ex, err)
	}
	t.Cleanup(func() { cv.Close() })
	return ex, cv
}

func TestOpenReturnsAfterTheHead(t *testing.T) {
	goOn := make(chan struct{})
	c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(conn, ok+"Content-Length: 2\r\n\r\nh")
		<-goOn
		io.WriteString(conn, "i")
	}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	ex, cv, err := c.open(ctx, time.Now(), &Request{Method: "GET", Target: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer cv.Close()
	cancel() // the context does not matter any more
	fails(t, ex, none, "", "")
	if ex.Response.Status != 200 || ex.Response.Body.Size != 0 || ex.Head == 0 || ex.Done != ex.Head {
		t.Errorf("exchange %+v", ex)
	}
	close(goOn)
	if got, err := io.ReadAll(cv); string(got) != "hi" || err != nil {
		t.Errorf("body %q, %v, want hi", got, err)
	}
}

func TestOpenWithoutAHeadHasNoConversation(t *testing.T) {
	w := &wire{script: []string{ok}}
	ex, cv, err := w.client(Options{}).open(t.Context(), time.Now(), &Request{Method: "GET", Target: "/"})
	if cv != nil || err != nil {
		t.Fatalf("Open: %v, %v", cv, err)
	}
	fails(t, ex, closed, inHead, "")
}

func TestWhatTheServerSeesOfTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*conversation) error
		want error // what the server's read returns; nil means io.EOF
	}{
		{"Close", (*conversation).Close, nil},
		{"CloseWrite", (*conversation).CloseWrite, nil},
		{"Reset", (*conversation).reset, syscall.ECONNRESET},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seen := make(chan error, 1)
			c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(conn, ok+"\r\n")
				_, err := r.ReadByte()
				seen <- err
				io.WriteString(conn, "bye")
			}), nil)
			_, cv := open(t, c)
			if err := tc.end(cv); err != nil {
				t.Fatal(err)
			}
			if err := <-seen; tc.want == nil && err != io.EOF || !errors.Is(err, tc.want) && tc.want != nil {
				t.Errorf("the server sees %v, want %v", err, tc.want)
			}
			got, err := io.ReadAll(cv)
			if tc.name == "CloseWrite" {
				if string(got) != "bye" || err != nil {
					t.Errorf("read %q, %v behind our end, want what the server says", got, err)
				}
				return
			}
			var known interface{ Failure() transcript.Failure }
			if !errors.As(err, &known) || known.Failure().Kind != transcript.FailCanceled {
				t.Errorf("Read: %v, want that we closed", err)
			}
			if err := cv.Close(); err != nil {
				t.Errorf("Close again: %v", err)
			}
		})
	}
}

func TestClosingEndsAReadThatIsUnderWay(t *testing.T) {
	for name, end := range map[string]func(*conversation) error{"Close": (*conversation).Close, "Reset": (*conversation).reset} {
		t.Run(name, func(t *testing.T) {
			c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(conn, ok+"\r\nx")
				r.ReadByte()
			}), nil)
			_, cv := open(t, c)
			reading := make(chan struct{})
			var reader sync.WaitGroup
			reader.Go(func() {
				_, _ = cv.Read(make([]byte, 1))
				close(reading)
				if _, err := cv.Read(make([]byte, 1)); err == nil || err == io.EOF {
					t.Errorf("Read: %v", err)
				}
			})
			<-reading
			if err := end(cv); err != nil {
				t.Error(err)
			}
			reader.Wait()
		})
	}
}

func TestAResetIsDistinguishedFromAnEnd(t *testing.T) {
	for _, tc := range []struct {
		says  string
		phase transcript.Phase
	}{
		{"", inHead}, {ok, inHead}, {ok + "Content-Length: 5\r\n\r\n", inBody}, {ok + "Content-Length: 5\r\n\r\nabc", inBody},
		{chunkedOK + "3\r\nabc\r\n", inBody}, {ok + "\r\nabc", inBody},
	} {
		read := make(chan struct{}) // closed when the client has read what precedes the reset
		c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
			readHead(r)
			io.WriteString(conn, tc.says)
			<-read
			conn.SetLinger(0)
		}), nil)
		if tc.phase == inHead {
			close(read)
			fails(t, do(t, c, "GET"), transcript.FailReset, inHead, "the connection was reset")
			continue
		}
		_, cv := open(t, c)
		close(read)
		_, err := io.ReadAll(cv)
		var known interface{ Failure() transcript.Failure }
		if !errors.As(err, &known) || known.Failure().Kind != transcript.FailReset || known.Failure().Phase != inBody {
			t.Errorf("behind %q: %v, want a reset in the body", tc.says, err)
		}
	}
}

func TestARefusedConnection(t *testing.T) {
	if testing.Short() {
		t.Skip("uses sockets")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c := NewClient(&url.URL{Scheme: "http", Host: addr}, nil)
	fails(t, do(t, c, "GET"), transcript.FailConnect, transcript.PhaseConnect, "connection refused")
}

func TestALargeRequestToAServerThatHangsUp(t *testing.T) {
	for name, linger := range map[string]int{"with a reset": 0, "with an end": -1} {
		t.Run(name, func(t *testing.T) {
			c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
				readHead(r)
				conn.SetLinger(linger)
			}), nil)
			ex, err := c.Do(t.Context(), time.Now(), &Request{Method: "POST", Target: "/", Body: make([]byte, 32<<20)})
			if err != nil {
				t.Fatal(err)
			}
			fails(t, ex, transcript.FailReset, transcript.PhaseSend, "")
		})
	}
}

func TestALargeRequestAndALargeResponseCross(t *testing.T) {
	c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(conn, ok+"Content-Length: 8388608\r\n\r\n")
		io.CopyN(conn, r, 8<<20) // an echo: neither side may wait for the other
		readHead(r)
		io.WriteString(conn, answer(0))
		readHead(r)
	}), nil)
	ex, err := c.Do(t.Context(), time.Now(), &Request{Method: "POST", Target: "/", Body: make([]byte, 8<<20)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, ex, none, "", "")
	if ex.Response.Body.Size != 8<<20 {
		t.Errorf("%d bytes", ex.Response.Body.Size)
	}
	checkBody(t, c, "GET", "a") // on the same connection
}
