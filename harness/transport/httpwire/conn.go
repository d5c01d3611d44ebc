package httpwire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A conn is one connection to the server. It serves one exchange at a time. Other goroutines may only interrupt, close,
// half-close or reset it.
type conn struct {
	net.Conn          // with TLS, if any
	raw      net.Conn // below TLS

	// buf[r:w] was received and is not read yet.
	buf  []byte
	r, w int

	fields   []span // fields of the head that is being read
	received bool   // a byte was received since the exchange began

	alive      func() bool // reports whether the connection can be used again; nil when that cannot be checked
	reused     bool        // this is not its first exchange
	since      time.Time   // when it became idle
	last       *transcript.Exchange
	held       bool   // it serves no other exchange until Client.Late has checked whether anything follows the last one
	noReuse    bool   // nor after that
	unexpected []byte // what followed the last exchange; set when alive returns false

	stop        func() bool // undoes guard
	interrupts  sync.WaitGroup
	onInterrupt func() // cn.interrupt; a field, so that it is allocated only once
}

// connBuffer is large enough to receive a typical response in one read.
const connBuffer = 8 << 10

// dial opens a connection, and does the TLS handshake.
func (c *Client) dial(ctx context.Context) (*conn, error) {
	port := c.base.Port()
	if port == "" {
		port = "80"
		if c.tls != nil {
			port = "443"
		}
	}
	raw, err := c.opts.Dial(ctx, "tcp", net.JoinHostPort(c.base.Hostname(), port))
	if err != nil {
		return nil, err
	}
	cn := &conn{Conn: raw, raw: raw, buf: make([]byte, connBuffer)}
	cn.onInterrupt = cn.interrupt
	cn.alive = liveness(raw, &cn.unexpected)
	if c.tls != nil {
		secure := tls.Client(raw, c.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
		cn.Conn, cn.alive = secure, livenessTLS(secure, liveness(raw, new([]byte)), &cn.unexpected)
	}
	return cn, nil
}

// guard lets the end of ctx interrupt the connection, until release is called.
//
// It needs no goroutine, whereas net/http has two for each connection. Here the caller itself reads and writes, and a
// deadline in the past wakes it up.
func (cn *conn) guard(ctx context.Context) {
	cn.received, cn.stop = false, nil
	if ctx.Done() != nil {
		cn.interrupts.Add(1)
		cn.stop = context.AfterFunc(ctx, cn.onInterrupt)
	}
}

func (cn *conn) interrupt() {
	defer cn.interrupts.Done()
	if cn.SetDeadline(past) != nil { // a connection of Options.Dial without deadlines
		cn.raw.Close()
	}
}

var past = time.Unix(1, 0)

// release ends guard. It reports whether the connection was not interrupted.
func (cn *conn) release() bool {
	switch {
	case cn.stop == nil:
		return true
	case cn.stop():
		cn.interrupts.Done()
		return true
	default:
		cn.interrupts.Wait()
		return false
	}
}

// buffered returns what was received and is not read yet. It is valid until the next read.
func (cn *conn) buffered() []byte { return cn.buf[cn.r:cn.w] }

// fill receives more into the buffer, which grows when it is full. Callers limit its size.
func (cn *conn) fill() error {
	switch {
	case cn.r == cn.w:
		cn.r, cn.w = 0, 0
		if len(cn.buf) > 8*connBuffer { // shrink it after a huge head
			cn.buf = make([]byte, connBuffer)
		}
	case cn.w == len(cn.buf):
		buf := cn.buf
		if cn.w-cn.r > len(buf)/2 {
			buf = make([]byte, 2*len(buf))
		}
		cn.r, cn.w = 0, copy(buf, cn.buffered())
		cn.buf = buf
	}
	n, err := cn.receive(cn.buf[cn.w:])
	cn.w += n
	return err
}

// read reads the next bytes. It bypasses the buffer when that is empty and p is larger.
func (cn *conn) read(p []byte) (int, error) {
	if cn.r == cn.w {
		if len(p) > len(cn.buf) {
			return cn.receive(p)
		}
		if err := cn.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, cn.buffered())
	cn.r += n
	return n, nil
}

// receive returns either bytes or an error.
func (cn *conn) receive(p []byte) (int, error) {
	const maxEmptyReads = 100 // as in bufio
	for range maxEmptyReads {
		n, err := cn.Read(p)
		if n > 0 { // the next Read returns the error again
			cn.received = true
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// Connections from Options.Dial may lack these abilities.
var (
	errNoHalfClose = errors.New("this connection cannot be closed on one side only")
	errNoReset     = errors.New("this connection cannot be reset")
)

// closeWrite closes the client's sending side of the connection.
func (cn *conn) closeWrite() error {
	if w, ok := cn.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errNoHalfClose
}

// abort closes the connection at once. Close would send a close_notify over TLS, and may wait for that.
func (cn *conn) abort() error { return cn.raw.Close() }

// reset closes the connection with a reset (TCP RST).
func (cn *conn) reset() error {
	tcp, ok := cn.raw.(interface{ SetLinger(sec int) error })
	if !ok {
		cn.abort()
		return errNoReset
	}
	return errors.Join(tcp.SetLinger(0), cn.abort())
}
