package httpwire

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestWhatFollowsAnExchangeMakesItFail(t *testing.T) {
	for _, tc := range []struct {
		name, method, head, more, text string
	}{
		{"a body behind HEAD", "HEAD", ok + "Content-Length: 5\r\n\r\n", "hello", `5 bytes follow the response: "hello"`},
		{"a body behind HEAD, and the end", "HEAD", ok + "Connection: close\r\nContent-Length: 5\r\n\r\n", "hello", `5 bytes follow the response: "hello"`},
		{"a body behind HEAD, of HTTP/1.0", "HEAD", "HTTP/1.0 200 OK\r\n\r\n", "hello", `5 bytes follow the response: "hello"`},
		{"a body behind a 204", "DELETE", "HTTP/1.1 204 No Content\r\n\r\n", `{"gone":true}`, `13 bytes follow the response: "{\"gone\":true}"`},
		{"a body behind a 304", "GET", "HTTP/1.1 304 Not Modified\r\n\r\n", "hello", `5 bytes follow the response: "hello"`},
		{"a second answer", "GET", ok + "Content-Length: 1\r\n\r\na", answer(1), `39 bytes follow the response: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"`},
		{"the end", "HEAD", ok + "Connection: close\r\n\r\n", "", ""},
		{"nothing", "DELETE", "HTTP/1.1 204 No Content\r\n\r\n", "", ""},
		{"patience that is over", "GET", ok + "Content-Length: 1\r\n\r\na", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", ""},
	} {
		for _, when := range []string{"in the pool", "taken from the pool", "dropped from the pool"} {
			apart := make(chan struct{})
			c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
				readHead(r)
				if n > 0 {
					io.WriteString(conn, answer(n))
					return
				}
				io.WriteString(conn, tc.head)
				<-apart
				io.WriteString(conn, tc.more)
				if tc.more == "" {
					r.ReadByte()
				}
			}), nil)
			start := time.Now()
			ex := do(t, c, tc.method)
			fails(t, ex, none, "", "")
			close(apart)
			if tc.more != "" {
				awaitDead(c)
			}
			switch when {
			case "taken from the pool":
				do(t, c, "GET")
			case "dropped from the pool":
				c.Close()
			}
			c.Late(t.Context(), time.Since(start), []*transcript.Exchange{ex})
			var (
				kind  transcript.FailureKind
				phase transcript.Phase
			)
			if tc.text != "" {
				kind, phase = malform, inBody
			}
			fails(t, ex, kind, phase, tc.text)
			if len(c.pool.late) > 0 || len(c.pool.idle) > 0 && c.pool.idle[0].last == ex {
				t.Errorf("%s, %s: it is remembered for longer than it is asked for", tc.name, when)
			}
			c.Close()
		}
	}
}

func TestAConnectionIsHeldBehindAnAnswerWithoutABody(t *testing.T) {
	c := dialer(t, loopback(t, func(n int, conn *net.TCPConn, r *bufio.Reader) {
		for head := readHead(r); head != ""; head = readHead(r) {
			if strings.HasPrefix(head, "GET") {
				io.WriteString(conn, answer(n))
			} else {
				io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
			}
		}
	}), nil)
	start := time.Now()
	first := do(t, c, "DELETE")
	checkBody(t, c, "GET", "b")
	c.Late(t.Context(), time.Since(start), []*transcript.Exchange{first})
	fails(t, first, none, "", "")
	second := do(t, c, "DELETE") // uses the connection that has waited less
	checkBody(t, c, "GET", "a")
	c.Late(t.Context(), time.Since(start), []*transcript.Exchange{second})
	fails(t, second, none, "", "")
}
