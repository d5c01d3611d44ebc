package ws

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// A side is an end of a socket. It decides who masks frames (RFC 6455 §5.1).
type side bool

const (
	client side = false
	server side = true
)

func (s side) String() string {
	if s == server {
		return "server"
	}
	return "client"
}

// errCut is returned by Send after a message was sent only in part.
var errCut = errors.New("an earlier message was sent only in part")

// An outbox sends messages, one after the other.
type outbox struct {
	from    side
	sending chan struct{} // has an element while a message is being sent
	// The holder of sending has these.
	closeSent bool
	cut       error // why no more can be sent
	buf       []byte
}

func newOutbox(from side) outbox { return outbox{from: from, sending: make(chan struct{}, 1)} }

// A carrier is an open connection that a watch.Watch records.
type carrier interface {
	Sent(ev transcript.Event)
	Ended() bool
	Write(ctx context.Context, p []byte) (int, error)
}

// send sends a message on an open socket. An automatic close is not sent after another one.
func (o *outbox) send(ctx context.Context, on carrier, m *Message, automatic bool) error {
	select {
	case o.sending <- struct{}{}:
		defer func() { <-o.sending }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch {
	case on.Ended():
		return watch.ErrEnded
	case o.cut != nil:
		return o.cut
	case m.closes():
		if automatic && o.closeSent {
			return nil
		}
		o.closeSent = true
	}
	on.Sent(m.event())
	o.buf = m.append(o.buf[:0], o.from)
	_, err := on.Write(ctx, o.buf)
	if cap(o.buf) > maxKept {
		o.buf = nil
	}
	if err != nil {
		o.cut = errors.Join(errCut, err)
	}
	return err
}

// maxKept is the largest buffer that is kept for the next message.
const maxKept = 64 << 10
