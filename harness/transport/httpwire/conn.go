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

// A conn is one connection to the server. It serves one exchange at a time; only interrupt, Close and what half-closes or
// resets may come from another goroutine.
type conn struct {
	net.Conn          // TLS or plain: what is read and written
	raw      net.Conn // below TLS

	// buf[r:w] has come and has not been read.
	buf  []byte
	r, w int

	fields   []span // of the head that is being read
	received bool   // a byte has come since the exchange began

	alive  func() bool // reports whether the connection could serve again; nil when that cannot be told
	reused bool        // this is not its first exchange
	since  time.Time   // when it became idle
	last   *transcript.Exchange
	held   bool   // it serves no other exchange before Client.Late has seen whether anything follows the last
	spent  bool   // nor after that
	came   []byte // what followed it, when alive is false

	stop        func() bool // ends what guard began
	interrupts  sync.WaitGroup
	onInterrupt func() // interrupt, as a value that is made once
}

// connBuffer is large enough for a common response to come in one read.
const connBuffer = 8 << 10

// dial makes a connection, and does the TLS handshake.
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
	cn.alive = liveness(raw, &cn.came)
	if c.tls != nil {
		secure := tls.Client(raw, c.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
		cn.Conn, cn.alive = secure, livenessTLS(secure, liveness(raw, new([]byte)), &cn.came)
	}
	return cn, nil
}

// guard makes the end of ctx interrupt the connection, until release.
//
// It costs no goroutine while nothing happens. net/http has two for each connection, and every exchange passes through
// both; here the caller reads and writes, and a deadline in the past wakes it up.
func (cn *conn) guard(ctx context.Context) {
	cn.received, cn.stop = false, nil
	if ctx.Done() != nil {
		cn.interrupts.Add(1)
		cn.stop = context.AfterFunc(ctx, cn.onInterrupt)
	}
}

func (cn *conn) interrupt() {
	defer cn.interrupts.Done()
	if cn.SetDeadline(past) != nil { // a connection of the caller's own making
		cn.raw.Close()
	}
}

var past = time.Unix(1, 0)

// release ends guard. It reports whether the connection was left alone.
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

// buffered returns what has come and has not been read. It is valid until the next read.
func (cn *conn) buffered() []byte { return cn.buf[cn.r:cn.w] }

// fill reads what comes next into the buffer, which grows if it is full: the caller has a bound.
func (cn *conn) fill() error {
	switch {
	case cn.r == cn.w:
		cn.r, cn.w = 0, 0
		if len(cn.buf) > 8*connBuffer { // after a huge head
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

// read reads what comes next, past the buffer if that is empty and p is larger.
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

// receive returns bytes or an error, never both and never neither.
func (cn *conn) receive(p []byte) (int, error) {
	const maxEmptyReads = 100 // as in bufio
	for range maxEmptyReads {
		n, err := cn.Read(p)
		if n > 0 { // the error, if there is one, will come again
			cn.received = true
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// What connections of the caller's own making may not be able to do.
var (
	errNoHalfClose = errors.New("this connection cannot be closed on one side only")
	errNoReset     = errors.New("this connection cannot be reset")
)

func (cn *conn) canHalfClose() bool {
	_, ok := cn.Conn.(interface{ CloseWrite() error })
	return ok
}

// closeWrite ends our side of the connection.
func (cn *conn) closeWrite() error {
	if w, ok := cn.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errNoHalfClose
}

// abort closes the connection without a word; TLS would say goodbye, and may wait for that.
func (cn *conn) abort() error { return cn.raw.Close() }

// reset closes the connection such that the server sees a reset (TCP RST) instead of an end.
func (cn *conn) reset() error {
	tcp, ok := cn.raw.(interface{ SetLinger(sec int) error })
	if !ok {
		cn.abort()
		return errNoReset
	}
	return errors.Join(tcp.SetLinger(0), cn.abort())
}
