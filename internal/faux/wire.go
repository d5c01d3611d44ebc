package faux

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"time"
)

// A wire is a server's end of a connection. Most of its methods are for faults.
type wire struct {
	net.Conn
	server *Server
	in     *bufio.Reader
}

// put writes all parts at once, and reports whether the write succeeded.
func (w *wire) put(parts ...[]byte) bool {
	all := parts[0]
	if len(parts) > 1 {
		all = bytes.Join(parts, nil)
	}
	_, err := w.Write(all)
	return err == nil
}

// framed writes a head that claims the given length, then a body.
func (w *wire) framed(head []byte, length int, body []byte) bool {
	return w.put(head, fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", length), body)
}

// wait waits, and returns false if the server ends first.
func (w *wire) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.server.done:
		return false
	}
}

// hang blocks until the server ends.
func (w *wire) hang() { <-w.server.done }

// drip writes about one byte a second. The pace is not a whole second, so that no byte coincides with a timeout of
// whole seconds.
func (w *wire) drip(text []byte) {
	const pace = 990 * time.Millisecond
	for i := range text {
		if !w.put(text[i:i+1]) || !w.wait(pace) {
			return
		}
	}
}

// chunk returns a chunk of a body (RFC 9112 §7.1).
func chunk(data string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(data), data) }

// flood writes a text repeatedly until a write fails or the given number of bytes is written.
func (w *wire) flood(text []byte, most int64) {
	for n := int64(0); n < most && w.put(text); n += int64(len(text)) {
	}
}

// reset makes the connection end with a reset (TCP RST).
func (w *wire) reset() {
	if tcp, ok := w.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}

// gone returns a channel that closes when the client hangs up. Until then it discards what the client sends.
func (w *wire) gone() <-chan struct{} {
	gone := make(chan struct{})
	w.server.running.Go(func() {
		defer close(gone)
		io.Copy(io.Discard, w.in)
	})
	return gone
}
