// Package conn wraps accepted connections for net/http, and corrects five things that a handler cannot.
//
// net/http refuses a request whose target holds a percent sign that begins no escape, such as /a%ZZ, before any handler
// sees it; CT 3.3 wants it served. A [Conn] rewrites such signs to %25 in the request line.
//
// net/http notices that a client has gone by reading one byte ahead while a handler runs. A client that sends something
// uses that byte up, and its going is not noticed any more. A [Conn] keeps what is sent meanwhile for later and goes on
// looking for the end; for an answer without an end, see [DiscardInput], it throws it away.
//
// net/http can limit how long an answer takes, which would cut streams, but not how long a client takes nothing of it. A
// [Conn] ends a write of which the client takes nothing for too long; see [ErrStalled].
//
// net/http takes a request that has both a Content-Length and a Transfer-Encoding, and forgets the length, though others
// may see another request in it. A [Conn] remembers; see [FramingOf].
package conn

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Listen returns a listener that accepts what ln accepts, as [Conn]. The server that serves on it needs [Context] as
// its ConnContext and [State] as its ConnState. A client may take nothing for writeTimeout, and up to an eighth longer,
// before it counts as stalled; never if that is 0.
func Listen(ln net.Listener, writeTimeout time.Duration) *Listener {
	return &Listener{Listener: ln, writeTimeout: writeTimeout, silent: map[*Conn]bool{}}
}

// A Listener accepts connections as [Conn].
type Listener struct {
	net.Listener
	writeTimeout time.Duration

	mu     sync.Mutex
	silent map[*Conn]bool // have not sent a byte
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	boundUnsent(nc)
	c := &Conn{Conn: nc, writeTimeout: l.writeTimeout, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent[c] = true
	return c, nil
}

// CloseSilent closes the connections that have not sent a byte. Clients open some in advance, and a graceful stop of
// net/http would wait five seconds for what they might still send.
func (l *Listener) CloseSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.silent {
		c.Conn.Close()
	}
}

// heard notes that a connection has sent something, or has ended.
func (l *Listener) heard(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.silent, c)
}

// A Conn is one accepted connection. Like every connection of a server it is read by one goroutine at a time, and
// written by one.
type Conn struct {
	net.Conn
	line  requestLine
	ahead []byte // read while a handler ran, and not yet passed on

	listener *Listener
	spoken   bool // it has sent a byte; only its reader looks at this

	active   atomic.Bool // a handler runs
	discards atomic.Bool // a handler has called DiscardInput
	over     atomic.Bool // and has returned

	writeTimeout time.Duration
	mu           sync.Mutex
	deadline     time.Time // of writes, if they have none from outside
	given        bool      // they have one from outside
}

// Read gives net/http the bytes it should see.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 1 && c.active.Load() {
		return c.watch(p) // net/http reads single bytes for no other reason
	}
	if c.over.Load() {
		return 0, io.EOF
	}
	n, err := c.line.read((*kept)(c), p)
	if !c.spoken && (n > 0 || err != nil) {
		c.spoken = true
		c.listener.heard(c)
	}
	return n, err
}

// maxAhead bounds what is kept of a client that sends while a handler runs. If it sends more, its end is not looked for
// any more until the handler returns.
const maxAhead = 64 << 10

// watch waits for the client's end, or for the deadline by which net/http says that the handler has returned.
func (c *Conn) watch(p []byte) (int, error) {
	if len(c.ahead) > maxAhead {
		return (*kept)(c).Read(p)
	}
	for buf := p; ; {
		n, err := c.Conn.Read(buf)
		if !c.discards.Load() { // asked after the read, which has begun before the handler
			c.ahead = append(c.ahead, buf[:n]...)
		}
		if err != nil {
			return 0, err
		}
		if len(c.ahead) > maxAhead {
			return (*kept)(c).Read(p)
		}
		if len(buf) == 1 {
			buf = make([]byte, 4096) // rarely needed
		}
	}
}

// kept reads what was kept, and then the connection.
type kept Conn

func (k *kept) Read(p []byte) (int, error) {
	if len(k.ahead) == 0 {
		return k.Conn.Read(p)
	}
	n := copy(p, k.ahead)
	if k.ahead = k.ahead[n:]; len(k.ahead) == 0 {
		k.ahead = nil
	}
	return n, nil
}

// CloseWrite ends the sending side, which net/http does before it closes a connection with unread input: otherwise the
// reset that follows could overtake the answer.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// State follows the life of a connection; it is an [http.Server] ConnState hook.
func State(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*Conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		c.active.Store(true)
	case http.StateIdle:
		c.active.Store(false)
		c.line.next()
		if c.discards.Load() {
			c.over.Store(true)
		}
	}
}

// EndAnswers ends the sending side of the connection of a request, found by the request's context, when its last answer is
// written. The client then sees the end, though the server may go on reading. Without a connection in the context nothing
// happens.
func EndAnswers(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*Conn); ok {
		_ = c.CloseWrite() // a connection that is closed has no sending side
	}
}

type contextKey struct{}

// Context makes a connection known to the handlers of its requests; it is an [http.Server] ConnContext hook.
func Context(ctx context.Context, nc net.Conn) context.Context {
	if c, ok := nc.(*Conn); ok {
		return context.WithValue(ctx, contextKey{}, c)
	}
	return ctx
}

// DiscardInput tells the connection of a request, found by the request's context, that its answer has no end but the
// connection's: everything its client sends from now on is thrown away, however much it is, and only the end of it, a FIN
// or a reset, still counts. The connection is closed after the answer. Without a connection in the context nothing
// happens.
func DiscardInput(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*Conn); ok {
		c.discards.Store(true)
	}
}
