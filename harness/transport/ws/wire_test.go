package ws

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// A peer is the server's side of a connection. Its code is independent of the client's.
type peer struct {
	net.Conn
	r    *bufio.Reader
	head []string // the lines of the request
}

// receiveHead reads the head of the request.
func (p *peer) receiveHead() {
	for {
		line, err := p.r.ReadString('\n')
		if line = strings.TrimSuffix(line, "\r\n"); err != nil || line == "" {
			return
		}
		p.head = append(p.head, line)
	}
}

// field returns the value of a header field of the request.
func (p *peer) field(name string) string {
	for _, line := range p.head {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return value
		}
	}
	return ""
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"

// accept is a valid response to the opening handshake, with more fields.
func (p *peer) accept(fields ...string) string {
	sum := sha1.Sum([]byte(p.field("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	lines := append([]string{"Sec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:])}, fields...)
	return switching + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

func (p *peer) say(text ...string) { _, _ = io.WriteString(p, strings.Join(text, "")) }

// receive reads a frame. It returns its first byte in hexadecimal, whether it is masked, and its payload, as in "81
// masked hello"; or the error.
func (p *peer) receive() string {
	first, masked, payload, err := readFrame(p.r)
	text := fmt.Sprintf("%02x", first)
	if masked {
		text += " masked"
	}
	switch err := err.(type) {
	case nil:
		return text + " " + string(payload)
	case *cutError:
		return text + " " + err.Error()
	default:
		return err.Error()
	}
}

// A cutError is the end of a connection in the payload of a frame.
type cutError struct{ n, size uint64 }

func (e *cutError) Error() string { return fmt.Sprintf("cut after %d of %d", e.n, e.size) }

// readFrame reads a frame, and removes its mask.
func readFrame(r io.Reader) (first byte, masked bool, payload []byte, err error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:2]); err != nil {
		return 0, false, nil, err
	}
	first, masked = b[0], b[1]&0x80 != 0
	size, ext := uint64(b[1]&0x7F), map[byte]int{126: 2, 127: 8}[b[1]&0x7F]
	if ext > 0 {
		b = [8]byte{}
		if _, err := io.ReadFull(r, b[8-ext:]); err != nil {
			return 0, false, nil, err
		}
		size = binary.BigEndian.Uint64(b[:])
	}
	var key [4]byte
	if masked {
		if _, err := io.ReadFull(r, key[:]); err != nil {
			return 0, false, nil, err
		}
	}
	payload, err = io.ReadAll(io.LimitReader(r, int64(size)))
	for i := range payload {
		payload[i] ^= key[i%4]
	}
	if n := uint64(len(payload)); err == nil && n < size {
		err = &cutError{n, size}
	}
	return first, masked, payload, err
}

// served returns a client whose server serves each connection in a goroutine that ends before the test does.
func served(t *testing.T, dial func() (client, server net.Conn), serve func(*peer)) *httpwire.Client {
	var servers sync.WaitGroup
	c := httpwire.NewClient(&url.URL{Scheme: "http", Host: "server"}, &httpwire.Options{
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := dial()
			servers.Go(func() {
				defer server.Close()
				p := &peer{Conn: server, r: bufio.NewReader(server)}
				p.receiveHead()
				serve(p)
			})
			return client, nil
		},
	})
	t.Cleanup(func() {
		c.Close()
		servers.Wait()
	})
	return c
}

// piped returns a client whose server is at the other end of a pipe, which works in a bubble of synctest.
func piped(t *testing.T, serve func(*peer)) *httpwire.Client {
	return served(t, net.Pipe, serve)
}

// loopback returns a client whose server is at the other end of a TCP connection.
func loopback(t *testing.T, serve func(*peer)) *httpwire.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("uses sockets")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return served(t, func() (net.Conn, net.Conn) {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		return client, server
	}, serve)
}

// openWith opens a socket with header fields in the request, and closes it when the test ends.
func openWith(t *testing.T, c *httpwire.Client, opts *Options, header transcript.Header) *Socket {
	t.Helper()
	s := Open(t.Context(), c, time.Now(), &httpwire.Request{Method: "GET", Target: "/chat", Header: header}, opts, nil)
	t.Cleanup(func() { s.Close() })
	return s
}

// opened opens a socket, and fails the test if the server does not accept it. The socket is closed when the test ends.
func opened(t *testing.T, c *httpwire.Client, opts *Options, watching *watch.Options) *Socket {
	t.Helper()
	s := Open(t.Context(), c, time.Now(), &httpwire.Request{Method: "GET", Target: "/chat"}, opts, watching)
	t.Cleanup(func() { s.Close() })
	if ex, is, err := s.Opened(); err != nil || !is {
		t.Fatalf("Opened: %+v, %t, %v", ex, is, err)
	}
	return s
}

func send(t *testing.T, s *Socket, m *Message) {
	t.Helper()
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatalf("Send: %v", err)
	}
}

func record(s *Socket) transcript.Stream {
	var out transcript.Stream
	s.Record(&out)
	return out
}

// ended waits for the end of a socket, and returns its record. Its events have no times.
func ended(t *testing.T, s *Socket) transcript.Stream {
	t.Helper()
	if err := s.AwaitEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := record(s)
	for i := range out.Events {
		out.Events[i].At = 0
	}
	out.Until = 0
	return out
}

// got is an event that came, and sent one that was sent.
func got(item transcript.Item, data, framing string) transcript.Event {
	return transcript.Event{Name: string(item), Item: item, Data: data, Framing: framing}
}

func sent(item transcript.Item, data, framing string) transcript.Event {
	ev := got(item, data, framing)
	ev.Sent = true
	return ev
}
