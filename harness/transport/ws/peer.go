package ws

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// A Peer is the server's end of a WebSocket. Like a Socket, it records what both sides send, and its methods may be
// called concurrently. Close ends the connection without a close frame.
//
// After the closing handshake, a server closes the connection (§7.1.1). A Peer shuts down its sending side, and reads on
// until the client ends its own, for Options.Reply at most. So data that the client sends after its close frame are
// found.
type Peer struct {
	*watch.Watch
	conn net.Conn
	opts Options
	made chan struct{} // closed when Watch is set
	out  outbox
}

// Accept opens the server's end on a connection whose opening handshake is done. What the client sends next is read from
// input. Subprotocols and Without of the options are not used. The Peer owns the connection, and the caller must close the
// Peer.
//
// Offsets count from start. A received event is named by watching.Name; nil means its Item.
func Accept(conn net.Conn, input io.Reader, start time.Time, options *Options, watching *watch.Options) *Peer {
	p := &Peer{conn: conn, opts: options.withDefaults(), made: make(chan struct{}), out: newOutbox(server)}
	w := watchOptions(start, watching)
	p.Watch = watch.Open(&source{end: p, side: server, conn: acceptedConn{input, conn}, start: start, opts: p.opts, maxReplies: w.MaxEvents}, w)
	close(p.made)
	return p
}

// An acceptedConn reads what the HTTP server has read ahead, and then the connection.
type acceptedConn struct {
	io.Reader
	io.Closer
}

// Send sends a message, and records it when its sending begins, so that it comes before what it causes. The end of ctx
// interrupts it. The error is a watch.ErrEnded when the connection has ended, or is lost.
func (p *Peer) Send(ctx context.Context, m *Message) error {
	if err := m.check(); err != nil {
		return err
	}
	return p.send(ctx, m, false)
}

// Reset ends the connection with a reset.
func (p *Peer) Reset() error {
	if c, ok := p.conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0) // otherwise it is closed
	}
	return p.Close()
}

// Write writes bytes to the connection. The end of ctx interrupts it.
func (p *Peer) Write(ctx context.Context, b []byte) (int, error) {
	_ = p.conn.SetWriteDeadline(time.Time{}) // on a closed connection, Write returns the error
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = p.conn.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := p.conn.Write(b)
	cause := watch.ErrEnded
	if !stop() {
		<-cut
		cause = context.Cause(ctx)
	}
	if err != nil {
		err = errors.Join(cause, err)
	}
	return n, err
}

func (p *Peer) begun() (open, extended bool) {
	<-p.made
	return true, false
}

func (p *Peer) send(ctx context.Context, m *Message, automatic bool) error {
	return p.out.send(ctx, p, m, automatic)
}

func (p *Peer) halfClosed() bool { return false } // a stub closes the whole connection

func (p *Peer) handshaken() {
	if c, ok := p.conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the client may have closed it first
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(p.opts.Reply))
}
