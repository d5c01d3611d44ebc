package httpwire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// These servers stop in the middle, and keep the connection open.
var hanging = []struct {
	name   string
	phase  transcript.Phase
	server func(net.Conn)
	body   int // size of the request's body
	status int // of the response, if its head came
	got    string
}{
	{"before it reads the request", transcript.PhaseSend, func(net.Conn) {}, 10, 0, ""},
	{"before it reads a large request", transcript.PhaseSend, func(net.Conn) {}, inlineBody + 1, 0, ""},
	{"in the middle of a large request", transcript.PhaseSend, func(c net.Conn) {
		io.CopyN(io.Discard, c, inlineBody)
	}, 2 * inlineBody, 0, ""},
	{"before the head", inHead, func(c net.Conn) { readHead(bufio.NewReader(c)) }, 0, 0, ""},
	{"in the status line", inHead, says("HTTP/1.1 20"), 0, 0, ""},
	{"in the head", inHead, says(ok + "A: b\r\n"), 0, 0, ""},
	{"behind an interim response", inHead, says("HTTP/1.1 100 Continue\r\n\r\n"), 0, 0, ""},
	{"before the body", inBody, says(ok + "Content-Length: 5\r\n\r\n"), 0, 200, ""},
	{"in the body", inBody, says(ok + "Content-Length: 5\r\n\r\nabc"), 0, 200, "abc"},
	{"in a body without end", inBody, says(ok + "\r\nabc"), 0, 200, "abc"},
	{"in a chunk size", inBody, says(chunkedOK + "3\r\nabc\r\n1"), 0, 200, "abc"},
	{"in a chunk", inBody, says(chunkedOK + "5\r\nabc"), 0, 200, "abc"},
	{"behind a chunk", inBody, says(chunkedOK + "3\r\nabc"), 0, 200, "abc"},
	{"in the trailer section", inBody, says(chunkedOK + "3\r\nabc\r\n0\r\nA: b\r\n"), 0, 200, "abc"},
}

// says is a server that reads a request and sends a text.
func says(what string) func(net.Conn) {
	return func(c net.Conn) {
		readHead(bufio.NewReader(c))
		io.WriteString(c, what)
	}
}

func TestTheEndOfTheContextInterruptsEveryPhase(t *testing.T) {
	const after = 3 * time.Second
	for _, tc := range hanging {
		for end, within := range map[transcript.FailureKind]func(context.Context) (context.Context, func()){
			transcript.FailTimeout: func(ctx context.Context) (context.Context, func()) {
				ctx, cancel := context.WithTimeoutCause(ctx, after, errTest)
				return ctx, cancel
			},
			transcript.FailCanceled: func(ctx context.Context) (context.Context, func()) {
				ctx, cancel := context.WithCancelCause(ctx)
				timer := time.AfterFunc(after, func() { cancel(errTest) })
				return ctx, func() { timer.Stop(); cancel(nil) }
			},
		} {
			t.Run(tc.name+"/"+string(end), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					over := make(chan struct{})
					c := piped(t, Options{}, func(conn net.Conn) {
						tc.server(conn)
						<-over
					})
					ctx, cancel := within(t.Context())
					defer cancel()
					start := time.Now()
					req := &Request{Method: "POST", Target: "/", Body: make([]byte, tc.body)}
					ex, err := c.Do(ctx, start, req)
					close(over)
					if err != nil {
						t.Fatal(err)
					}
					fails(t, ex, end, tc.phase, "the step is over")
					if ex.Done != after || time.Since(start) != after {
						t.Errorf("done at %s, returned after %s, want %s", ex.Done, time.Since(start), after)
					}
					switch r := ex.Response; {
					case r == nil && tc.status != 0, r != nil && (r.Status != tc.status || string(r.Body.Bytes) != tc.got):
						t.Errorf("response %+v, want %d %q", r, tc.status, tc.got)
					}
				})
			})
		}
	}
}

func TestADripFeedEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := piped(t, Options{}, func(conn net.Conn) {
			says(ok + "\r\n")(conn)
			for {
				time.Sleep(time.Second)
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second+time.Millisecond)
		defer cancel()
		ex, _ := c.Do(ctx, time.Now(), &Request{Method: "GET", Target: "/"})
		fails(t, ex, transcript.FailTimeout, inBody, "context deadline exceeded")
		if got := string(ex.Response.Body.Bytes); got != strings.Repeat("x", 30) {
			t.Errorf("body %q, want the 30 bytes that came", got)
		}
	})
}

func TestAnEndlessBodyEndsAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := piped(t, Options{MaxBody: 1 << 20}, func(conn net.Conn) {
			says(ok + "Content-Length: 1073741824\r\n\r\n")(conn)
			for block := make([]byte, 64<<10); ; {
				n, err := conn.Write(block)
				if sent += n; err != nil {
					return
				}
			}
		})
		ex := do(t, c, "GET")
		fails(t, ex, limit, inBody, "the body is larger than 1048576 bytes")
		if b := ex.Response.Body; len(b.Bytes) != 1<<20 || cap(b.Bytes) > 2<<20 || b.Size != 1<<20+1 {
			t.Errorf("%d bytes in %d, size %d", len(b.Bytes), cap(b.Bytes), b.Size)
		}
		synctest.Wait()
		if sent > 2<<20 {
			t.Errorf("%d bytes were taken from the server", sent)
		}
	})
}

func TestOffsetsCountFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = time.Second
		c := piped(t, Options{}, func(conn net.Conn) {
			readHead(bufio.NewReader(conn))
			time.Sleep(2 * second)
			io.WriteString(conn, ok+"Content-Length: 2\r\n\r\nh")
			time.Sleep(4 * second)
			io.WriteString(conn, "i")
		})
		dial := c.opts.Dial
		c.opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(second)
			return dial(ctx, network, addr)
		}
		ex, _ := c.Do(t.Context(), time.Now().Add(-10*second), &Request{Method: "GET", Target: "/"})
		got := []time.Duration{ex.Sent, ex.Head, ex.Done}
		if diff := cmp.Diff([]time.Duration{11 * second, 13 * second, 17 * second}, got); diff != "" {
			t.Errorf("sent, head, done (-want +got):\n%s", diff)
		}
	})
}

func TestNoConnectionIsAFailureToConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		canceled, cancel := context.WithCancelCause(t.Context())
		cancel(errTest)
		late, cancelLate := context.WithTimeout(t.Context(), time.Minute)
		defer cancelLate()
		refused := errors.New("connection refused")
		for _, tc := range []struct {
			name string
			ctx  context.Context
			dial func(context.Context) error
			kind transcript.FailureKind
			text string
		}{
			{"refused", t.Context(), func(context.Context) error { return refused }, transcript.FailConnect, "connection refused"},
			{"not in time", late, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, transcript.FailTimeout, "context deadline exceeded"},
			{"canceled before", canceled, func(context.Context) error { panic("dialed") }, transcript.FailCanceled, "the step is over"},
		} {
			c := piped(t, Options{Dial: nil}, nil)
			c.opts.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, tc.dial(ctx) }
			start := time.Now()
			ex, err := c.Do(tc.ctx, start, &Request{Method: "GET", Target: "/"})
			if err != nil {
				t.Fatal(err)
			}
			fails(t, ex, tc.kind, transcript.PhaseConnect, tc.text)
			if ex.Sent != 0 || ex.Head != 0 || ex.Done != time.Since(start) {
				t.Errorf("%s: sent %s, head %s, done %s", tc.name, ex.Sent, ex.Head, ex.Done)
			}
		}
	})
}

func TestAnAnswerToHalfARequestIsAnAnswer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server func(net.Conn)
		kind   transcript.FailureKind
	}{
		{"and the connection is closed", func(c net.Conn) {
			io.CopyN(io.Discard, c, inlineBody)
			io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
		}, none},
		{"and the rest is not read", func(c net.Conn) {
			io.CopyN(io.Discard, c, inlineBody)
			io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
		}, none},
		{"and the rest is read while it comes", func(c net.Conn) {
			io.CopyN(io.Discard, c, inlineBody)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
			}()
			io.Copy(io.Discard, c)
			<-answered
		}, none},
		{"and it is malformed", func(c net.Conn) {
			io.CopyN(io.Discard, c, inlineBody)
			io.WriteString(c, "413 Too Large\r\n\r\n")
		}, malform},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				c := piped(t, Options{}, func(conn net.Conn) {
					tc.server(conn)
					<-over
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ex, err := c.Do(ctx, time.Now(), &Request{Method: "POST", Target: "/", Body: make([]byte, 1<<20)})
				close(over)
				if err != nil {
					t.Fatal(err)
				}
				fails(t, ex, tc.kind, inHead, "")
				if tc.kind == none && (ex.Response.Status != 413 || string(ex.Response.Body.Bytes) != "big") {
					t.Errorf("response %+v", ex.Response)
				}
			})
		})
	}
}

func TestManyExchangesMayRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := piped(t, Options{}, func(conn net.Conn) {
			first := readHead(bufio.NewReader(conn))
			time.Sleep(time.Second)
			fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", ok, len(first), first)
		})
		start := time.Now()
		done := make(chan error)
		const n = 100
		for i := range n {
			go func() {
				target := fmt.Sprintf("/%d", i)
				ex, err := c.Do(t.Context(), start, &Request{Method: "GET", Target: target})
				if want := "GET " + target + " HTTP/1.1"; err == nil && string(ex.Response.Body.Bytes) != want {
					err = fmt.Errorf("%q, want %q", ex.Response.Body.Bytes, want)
				}
				done <- err
			}()
		}
		for range n {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("%d exchanges took %s, want 1s", n, took)
		}
	})
}
