// Package conn wraps accepted connections for net/http, and corrects behaviour that a handler cannot change.
//
// net/http rejects a request whose target has a percent sign outside of an escape, such as /a%ZZ, before any handler
// sees it. CT 3.3 requires it to be served. A [Conn] rewrites such signs to %25 in the request line.
//
// net/http notices that a client has left by reading one byte ahead while a handler runs. If the client sends
// something, that byte is used up, and net/http no longer notices. A [Conn] keeps what is sent meanwhile for later,
// and goes on looking for the end. For an answer without an end it discards it; see [DiscardInput].
//
// net/http can limit the time of a whole answer, which would cut streams. It cannot limit how long a client may pause
// reading it. A [Conn] fails a write if the client reads nothing for too long; see [ErrStalled].
//
// net/http accepts a request with both Content-Length and Transfer-Encoding, and forgets the length. A proxy may have
// read a different request. A [Conn] remembers it; see [FramingOf].
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

// Listen returns a listener whose connections are [Conn]s of ln. The server must use [Context] as its ConnContext and
// [State] as its ConnState. A client that takes nothing for writeTimeout, or up to an eighth longer, counts as
// stalled. 0 means no timeout.
func Listen(ln net.Listener, writeTimeout time.Duration) *Listener {
	return &Listener{Listener: ln, writeTimeout: writeTimeout, silent: map[*Conn]bool{}}
}

// A Listener accepts connections as [Conn].
type Listener struct {
	net.Listener
	writeTimeout time.Duration

	mu     sync.Mutex
	silent map[*Conn]bool // the connections that have not sent a byte
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

// CloseSilent closes the connections that have not sent a byte. Clients open some in advance, and net/http's graceful
// stop would wait five seconds for a request on each.
func (l *Listener) CloseSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.silent {
		c.Conn.Close()
	}
}

// heard records that a connection has sent something, or has ended.
func (l *Listener) heard(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.silent, c)
}

// A Conn is one accepted connection. As with every connection of a server, one goroutine at a time reads it, and one
// writes it.
type Conn struct {
	net.Conn
	line  requestLine
	ahead []byte // read while a handler ran, and not yet returned

	listener *Listener
	spoken   bool // has sent a byte; only the reader uses it

	active   atomic.Bool // a handler is running
	discards atomic.Bool // a handler has called DiscardInput
	over     atomic.Bool // that handler has returned

	writeTimeout time.Duration
	mu           sync.Mutex
	deadline     time.Time // of writes, unless SetWriteDeadline set one
	given        bool      // SetWriteDeadline set the deadline
}

// Read returns to net/http the bytes that it should see.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 1 && c.active.Load() {
		return c.watch(p) // net/http reads single bytes only to detect that the client has left
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

// maxAhead limits what is kept of a client that sends while a handler runs. If it sends more, its leaving is not
// noticed until the handler returns.
const maxAhead = 64 << 10

// watch waits until the client leaves, or until the deadline with which net/http signals that the handler has
// returned.
func (c *Conn) watch(p []byte) (int, error) {
	if len(c.ahead) > maxAhead {
		return (*kept)(c).Read(p)
	}
	for buf := p; ; {
		n, err := c.Conn.Read(buf)
		if !c.discards.Load() { // checked after the read, which may have begun before the handler
			c.ahead = append(c.ahead, buf[:n]...)
		}
		if err != nil {
			return 0, err
		}
		if len(c.ahead) > maxAhead {
			return (*kept)(c).Read(p)
		}
		if len(buf) == 1 {
			buf = make([]byte, 4096) // allocated late, because it is rarely needed
		}
	}
}

// kept reads the bytes that were kept, then the connection.
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

// CloseWrite closes the sending side. net/http does that before it closes a connection with unread input, because
// otherwise the reset could reach the client before the answer.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// State tracks the state of a connection. It is an [http.Server] ConnState hook.
func State(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*Conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		c.active.Store(true)
	case http.StateHijacked:
		c.active.Store(false) // its new owner reads it like any connection
	case http.StateIdle:
		c.active.Store(false)
		c.line.next()
		if c.discards.Load() {
			c.over.Store(true)
		}
	}
}

// EndAnswers closes the sending side of a request's connection, which is in the request's context. Call it when the
// last answer is written: the client sees the end, although the server may go on reading. Without a connection in the
// context it does nothing.
func EndAnswers(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*Conn); ok {
		_ = c.CloseWrite() // fails only if the connection is closed already
	}
}

type contextKey struct{}

// Context puts a connection into the context of its requests. It is an [http.Server] ConnContext hook.
func Context(ctx context.Context, nc net.Conn) context.Context {
	if c, ok := nc.(*Conn); ok {
		return context.WithValue(ctx, contextKey{}, c)
	}
	return ctx
}

// DiscardInput declares that the answer to a request ends only with its connection, which is in the request's
// context. Everything the client sends from now on is discarded, and only its end, a FIN or a reset, counts. The
// connection closes after the answer. Without a connection in the context it does nothing.
func DiscardInput(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*Conn); ok {
		c.discards.Store(true)
	}
}
