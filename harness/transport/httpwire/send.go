package httpwire

import (
	"fmt"
	"net"
	"slices"
	"time"
)

// An outgoing is a request that is being sent.
type outgoing struct {
	done    chan struct{} // closed when it is written or has failed; nil when no goroutine writes it
	written int64
	err     error
}

// A sendState is how far the sending of a request has got.
type sendState byte

const (
	underWay sendState = iota
	complete
	failed
)

// send writes a request. A server may respond before it has read a large body, so such a body is written in the
// background: "A client sending a message body SHOULD monitor the network connection for an error response while it is
// transmitting the request" (RFC 9112 §9.5).
func (o *outgoing) send(cn *conn, msg *message) {
	if msg.rest == nil {
		o.write(cn, msg)
		return
	}
	o.done = make(chan struct{})
	go func() {
		defer close(o.done)
		o.write(cn, msg)
	}()
}

func (o *outgoing) write(cn *conn, msg *message) {
	if msg.rest == nil {
		var n int
		n, o.err = cn.Write(msg.bytes)
		o.written = int64(n)
	} else {
		parts := slices.Concat(net.Buffers{msg.bytes}, msg.rest) // a copy, because WriteTo consumes it
		o.written, o.err = parts.WriteTo(cn.Conn)                // TCP takes them in one call, without a copy
	}
	if msg.sent != nil {
		msg.sent()
	}
}

func (o *outgoing) state() sendState {
	if o.done != nil {
		select {
		case <-o.done:
		default:
			return underWay
		}
	}
	if o.err != nil {
		return failed
	}
	return complete
}

// stop ends the writing, and waits for it. It reports whether the whole request was written.
func (o *outgoing) stop(cn *conn) bool {
	if o.state() == underWay {
		if cn.SetWriteDeadline(past) != nil {
			cn.abort()
		}
		<-o.done
		_ = cn.SetWriteDeadline(time.Time{}) // it may have become complete just now
	}
	return o.err == nil
}

// progress says how much of an incomplete request was written.
func (o *outgoing) progress() string { return fmt.Sprintf("after %d bytes of the request", o.written) }
