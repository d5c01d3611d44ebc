// Package conn stands between accepted connections and net/http, and corrects two things that a handler cannot.
//
// net/http refuses a request whose target holds a percent sign that begins no escape, such as /a%ZZ, before any handler
// sees it; CT 3.3 wants it served. A [Conn] rewrites such signs to %25 in the request line.
//
// net/http notices that a client has gone by reading one byte ahead. A client that sends anything on the connection of
// an endless answer uses that byte up, and its going is not noticed any more. [Deafen] makes a connection throw away
// what its client still sends, so that the end of it is always found.
package conn

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// Listen returns a listener that accepts what ln accepts, as [Conn]. The server that serves on it needs [Context] as
// its ConnContext and [State] as its ConnState.
func Listen(ln net.Listener) net.Listener { return listener{ln} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c}, nil
}

// A Conn is one accepted connection. Like every connection of a server it is read by one goroutine at a time.
type Conn struct {
	net.Conn
	line requestLine
	deaf atomic.Bool // set once a handler has called Deafen
	done atomic.Bool // set once the answer of that handler is complete
}

// Read gives net/http the bytes it should see.
func (c *Conn) Read(p []byte) (int, error) {
	if !c.deaf.Load() {
		return c.line.read(c.Conn, p)
	}
	for !c.done.Load() {
		if _, err := c.Conn.Read(p); err != nil {
			return 0, err // also when net/http interrupts the read by a deadline, to end the request
		}
	}
	return 0, io.EOF
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
	if !ok || state != http.StateIdle {
		return
	}
	c.line.next()
	if c.deaf.Load() {
		c.done.Store(true)
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

// Deafen tells the connection of a request, found by the request's context, that its answer has no end but the
// connection's: from now on everything its client sends is thrown away, and only the end of it, a FIN or a reset, still
// counts. The connection is closed after the answer. Without a connection in the context nothing happens.
func Deafen(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*Conn); ok {
		c.deaf.Store(true)
	}
}
