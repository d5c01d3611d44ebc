package websocket_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/httpapi/websocket"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// inFlight has room for the messages of one socket only.
var inFlight = body.NewInFlight(100_000)

const interval = 10 * time.Second

// A rig is a server with one socket.
type rig struct {
	queue  *sse.Queue
	drop   context.CancelFunc
	client net.Conn
	in     *bufio.Reader
	ended  chan error // receives what Serve returned

	mu     sync.Mutex
	events []string // messages and the leaving, in their order
}

const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// open opens a socket. The client sends early together with the handshake.
func open(t *testing.T, early string) *rig {
	t.Helper()
	ctx, drop := context.WithCancel(t.Context())
	r := &rig{queue: sse.NewQueue(), drop: drop, ended: make(chan error, 1)}
	note := func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, text)
	}
	e := echo.New()
	e.GET("/", func(c echo.Context) error {
		r.ended <- websocket.Serve(ctx, c.Response(), r.queue, websocket.Options{
			Interval: interval,
			Room:     inFlight.Share(),
			Message:  func(text []byte) { note(string(text)) },
			Leave:    func() { note("(left)") },
		})
		return nil
	}, websocket.Handshake)
	ln := memnet.Listen()
	memnet.Serve(t, &http.Server{Handler: e, ConnContext: conn.Context, ConnState: conn.State}, conn.Listen(ln, time.Minute))
	r.client = ln.Connect(t)
	t.Cleanup(func() { r.client.Close() })
	go io.WriteString(r.client, upgrade+early)
	r.in = bufio.NewReader(r.client)
	resp, err := http.ReadResponse(r.in, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("handshake: %v, %v", resp, err)
	}
	if got := resp.Header.Get("Sec-WebSocket-Accept"); got != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Errorf("Sec-WebSocket-Accept %q, want the one of RFC 6455 §1.3", got)
	}
	return r
}

func (r *rig) seen() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.events...)
}

// masked returns a frame of a client.
func masked(first byte, payload string) string {
	b := []byte{first}
	switch n := len(payload); {
	case n <= 125:
		b = append(b, 0x80|byte(n))
	case n <= 65535:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	key := []byte{1, 2, 3, 4}
	b = append(b, key...)
	for i := range len(payload) {
		b = append(b, payload[i]^key[i%4])
	}
	return string(b)
}

func closing(code uint16, reason string) string {
	return masked(0x88, string(binary.BigEndian.AppendUint16(nil, code))+reason)
}

func closed(code uint16) string { return fmt.Sprintf("close %d", code) }

// next reads one frame of the server: "text hello", "ping ", "close 1000", or "end: EOF".
func (r *rig) next() string {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r.in, head); err != nil {
		return "end: " + err.Error()
	}
	size := int(head[1])
	if long := map[int]int{126: 2, 127: 8}[size]; long > 0 {
		b := make([]byte, 8)
		io.ReadFull(r.in, b[8-long:])
		size = int(binary.BigEndian.Uint64(b))
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r.in, payload); err != nil {
		return "end: " + err.Error()
	}
	switch head[0] {
	case 0x81:
		return "text " + string(payload)
	case 0x88:
		if len(payload) == 2 {
			return closed(binary.BigEndian.Uint16(payload))
		}
		return "close " + string(payload)
	case 0x89:
		return "ping " + string(payload)
	case 0x8A:
		return "pong " + string(payload)
	}
	return fmt.Sprintf("frame %x", head[0])
}

// rest reads until the end.
func (r *rig) rest() (frames []string) {
	for {
		frame := r.next()
		frames = append(frames, frame)
		if strings.HasPrefix(frame, "end") {
			return frames
		}
	}
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestWhatAClientSends(t *testing.T) {
	const text, end, ping, pong = 0x81, 0x80, 0x89, 0x8A
	large := strings.Repeat("0123456789abcdeż", 5000)
	bye := closing(1000, "")
	for _, tc := range []struct {
		name, sent     string
		events, frames []string
	}{
		{"a message", masked(text, "hello") + bye, []string{"hello"}, []string{closed(1000)}},
		{"an empty message", masked(text, "") + bye, []string{""}, []string{closed(1000)}},
		{"large messages", masked(text, large) + masked(text, large[:200]) + bye, []string{large, large[:200]}, []string{closed(1000)}},
		{"fragments", masked(0x01, "a\xc5") + masked(ping, "p") + masked(0, "") + masked(pong, "") + masked(end, "\xbcb") + bye, []string{"ażb"}, []string{"pong p", closed(1000)}},
		{"a close without a code", masked(0x88, ""), nil, []string{"close "}},
		{"a close with a reason", closing(4999, "why"), nil, []string{closed(4999)}},
		{"nothing after a close", bye + masked(text, "late"), nil, []string{closed(1000)}},
		{"code 1004", closing(1004, ""), nil, []string{closed(1002)}},
		{"code 1005", closing(1005, ""), nil, []string{closed(1002)}},
		{"code 999", closing(999, ""), nil, []string{closed(1002)}},
		{"code 5000", closing(5000, ""), nil, []string{closed(1002)}},
		{"half a code", masked(0x88, "x"), nil, []string{closed(1002)}},
		{"a reason that is not UTF-8", closing(1000, "\xff"), nil, []string{closed(1007)}},
		{"binary", masked(0x82, "x") + bye, nil, []string{closed(1003)}},
		{"not UTF-8", masked(text, "a\xff") + bye, nil, []string{closed(1007)}},
		{"half a character", masked(0x01, "\xc5") + masked(end, "x") + bye, nil, []string{closed(1007)}},
		{"a reserved bit", masked(text|0x40, "x") + bye, nil, []string{closed(1002)}},
		{"an unknown opcode", masked(0x83, "x") + bye, nil, []string{closed(1002)}},
		{"no mask", "\x81\x01x" + bye, nil, []string{closed(1002)}},
		{"a continuation of nothing", masked(end, "x") + bye, nil, []string{closed(1002)}},
		{"a message in a message", masked(0x01, "x") + masked(text, "y") + bye, nil, []string{closed(1002)}},
		{"a ping in fragments", masked(0x09, "x") + bye, nil, []string{closed(1002)}},
		{"a large ping", masked(ping, large[:126]) + bye, nil, []string{closed(1002)}},
		{"too long", "\x81\xff\x00\x00\x00\x00\x01\x00\x00\x01abcd" + bye, nil, []string{closed(1009)}},
		{"much too long", "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xffabcd" + bye, nil, []string{closed(1002)}},
		{"too long together", masked(0x01, "x") + "\x80\xff\x00\x00\x00\x00\x01\x00\x00\x00abcd" + bye, nil, []string{closed(1009)}},
	} {
		for _, early := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				sent := map[bool]string{early: tc.sent, !early: ""}
				r := open(t, sent[true])
				go io.WriteString(r.client, sent[false])
				same(t, tc.name, append(tc.frames, "end: EOF"), r.rest())
				same(t, tc.name+": events", append(tc.events, "(left)"), r.seen())
				if err := <-r.ended; err != nil {
					t.Errorf("%s: Serve: %v", tc.name, err)
				}
			})
		}
	}
}

func TestAClientThatDoesNotAnswerTheCloseIsAwaitedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, masked(0x82, "x"))
		same(t, "frame", closed(1003), r.next())
		began := time.Now()
		io.WriteString(r.client, masked(0x81, "ignored"))
		same(t, "then", "end: EOF", r.next())
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("the connection ended after %s, want 1s", waited)
		}
		same(t, "events", []string{"(left)"}, r.seen())
	})
}

func TestASilentClientIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "")
		began := time.Now()
		same(t, "first", "ping ", r.next())
		if waited := time.Since(began); waited != interval {
			t.Errorf("the first ping came after %s, want %s", waited, interval)
		}
		time.Sleep(interval / 2)
		io.WriteString(r.client, masked(0x8A, ""))
		began = time.Now()
		same(t, "later", []string{"ping ", "ping ", "end: EOF"}, r.rest())
		if waited := time.Since(began); waited != 2*interval {
			t.Errorf("the socket ended %s after the pong, want %s", waited, 2*interval)
		}
		if err := <-r.ended; !errors.Is(err, websocket.ErrSilent) {
			t.Errorf("Serve: %v, want ErrSilent", err)
		}
		same(t, "events", []string{"(left)"}, r.seen())
	})
}

func TestAConnectionThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "\x81")
		r.client.Close()
		if err := <-r.ended; err == nil {
			t.Error("Serve returned nil, want the end of the connection")
		}
		same(t, "events", []string{"(left)"}, r.seen())
	})
}

func TestAPongPassesMessagesThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "")
		for _, message := range []string{strings.Repeat("x", 100_000), "second", "third"} {
			r.queue.Force(websocket.Text([]byte(message)))
		}
		synctest.Wait() // the first is being written, because the client does not read
		for n := range 70 {
			io.WriteString(r.client, masked(0x89, fmt.Sprint(n)))
		}
		synctest.Wait()
		if got := r.next(); len(got) != 100_005 {
			t.Errorf("the first message is %.20s..., want x...", got)
		}
		for n := range 64 { // the last ones, of more than may wait
			same(t, "control", fmt.Sprintf("pong %d", n+6), r.next())
		}
		same(t, "then", "text second", r.next())
		same(t, "then", "text third", r.next())
	})
}

func TestTheEndOfTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "")
		r.queue.Force(websocket.Text([]byte("last words")))
		r.queue.End()
		same(t, "frames", []string{"text last words", closed(1001), "end: EOF"}, r.rest())
		same(t, "events", []string{"(left)"}, r.seen())
	})
}

// TestMessagesShareTheirRoom: one socket always has room, and another one only for what is left.
func TestMessagesShareTheirRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := open(t, ""), open(t, "")
		half := strings.Repeat("x", 150_000)
		go io.WriteString(first.client, masked(0x01, half))
		synctest.Wait()
		go io.WriteString(second.client, masked(0x81, half)+closing(1000, ""))
		same(t, "the second", []string{closed(1013), "end: EOF"}, second.rest())
		go io.WriteString(first.client, masked(0x80, half)+closing(1000, ""))
		same(t, "the first", []string{closed(1000), "end: EOF"}, first.rest())
		same(t, "its message", []string{half + half, "(left)"}, first.seen())
		third := open(t, masked(0x81, half)+masked(0x81, half)+closing(1000, ""))
		same(t, "the third", []string{closed(1000), "end: EOF"}, third.rest())
	})
}

func TestASlowReader(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, "")
			for range 3 {
				r.queue.Force(websocket.Text(bytes.Repeat([]byte("x"), 1<<20)))
			}
			synctest.Wait()
			began := time.Now()
			r.queue.Drop(r.drop)
			same(t, "events at once", []string{"(left)"}, r.seen())
			if reads {
				if got := r.next(); len(got) != 5+1<<20 {
					t.Errorf("the message that was being written: %.20s...", got)
				}
				same(t, "frames", []string{closed(1013), "end: EOF"}, r.rest())
			}
			<-r.ended
			if waited := time.Since(began); waited != time.Second {
				t.Errorf("the socket ended after %s, want 1s", waited)
			}
		})
	}
}

func TestHandshakesThatAreRefused(t *testing.T) {
	const valid = "Connection: keep-alive, UPGRADE\r\nUpgrade: h2c, WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for _, tc := range []struct {
		name, old, new string
		status         int
		version        string
	}{
		{"no upgrade", "Upgrade: h2c, WebSocket", "X: y", 426, ""},
		{"another upgrade", ", WebSocket", ", WebSocket2", 426, ""},
		{"no option", ", UPGRADE", "", 426, ""},
		{"no version", "Sec-WebSocket-Version: 13", "X: y", 426, "13"},
		{"another version", ": 13", ": 8", 426, "13"},
		{"two versions", ": 13", ": 13\r\nSec-WebSocket-Version: 13", 426, "13"},
		{"no key", "Sec-WebSocket-Key", "X", 400, ""},
		{"a short key", "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZQ==", 400, ""},
		{"no padding", "jZQ==", "jZQ", 400, ""},
		{"unused bits", "jZQ==", "jZR==", 400, ""},
		{"no Base64", "dGhl", "dG!l", 400, ""},
		{"another method", "GET", "HEAD", 426, ""},
		{"an old protocol", "HTTP/1.1", "HTTP/1.0", 426, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := echo.New()
			opened := func(echo.Context) error { t.Errorf("%s: accepted", tc.name); return nil }
			e.GET("/", opened, websocket.Handshake)
			e.HEAD("/", opened, websocket.Handshake)
			ln := memnet.Listen()
			memnet.Serve(t, &http.Server{Handler: e}, ln)
			c := ln.Connect(t)
			defer c.Close()
			go io.WriteString(c, strings.Replace("GET / HTTP/1.1\r\nHost: x\r\n"+valid+"\r\n", tc.old, tc.new, 1))
			method, _, _ := strings.Cut(tc.new, " ")
			resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status || resp.ContentLength > 0 || resp.Header.Get("Sec-WebSocket-Version") != tc.version || (resp.Header.Get("Upgrade") == "websocket") != (tc.status == 426) {
				t.Errorf("%s: %d %v, want %d, version %q", tc.name, resp.StatusCode, resp.Header, tc.status, tc.version)
			}
		})
	}
}
