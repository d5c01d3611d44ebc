// Package ws is either end of a WebSocket (RFC 6455): it sends what a scenario says, and records what crossed the wire.
// A [Socket] is the client of a server under test, and a [Peer] the server of a client under test.
//
// It has its own frame code, because libraries for applications hide what a judge must see: they join fragments, answer
// control frames, and reject or repair broken frames. Here each of these is data in the record. What the other side does
// wrong breaks the stream, with a transcript.Failure that names the section of RFC 6455.
package ws

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// Options say how a Socket is opened, and what it does by itself.
type Options struct {
	// Subprotocols are offered in the handshake.
	Subprotocols []string
	// Without names header fields of the handshake that are not added to the request.
	Without []string
	// NoPong leaves pings unanswered. Otherwise each gets a pong with the same payload (§5.5.3).
	NoPong bool
	// NoClose leaves a close frame unanswered. Otherwise it gets one with the same code, unless one was sent before
	// (§5.5.1).
	NoClose bool
	// MaxMessage limits the size of a received message, together with its framing; 0 means 16 MiB.
	MaxMessage int
	// Reply is how long an automatic pong or close may take to be written; 0 means 10 seconds. After that, no more are
	// sent.
	Reply time.Duration
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxMessage <= 0 {
		out.MaxMessage = 16 << 20
	}
	if out.Reply <= 0 {
		out.Reply = 10 * time.Second
	}
	return out
}

// A Socket is a WebSocket that records what both sides send. Its methods may be called concurrently.
//
// Close ends the connection without a close frame. To end it by the rules, Send a close, and then wait for the end.
type Socket struct {
	*httpwire.Stream
	made chan struct{} // closed when Stream is set
	out  outbox
	half atomic.Bool // CloseWrite was called
}

// Open sends the opening handshake, and returns at once, like httpwire.Client.OpenStream. A response with another
// status than 101 is read to its end, as a refusal. A 101 response that breaks the rules of the handshake is a
// transcript.FailMalformed of the exchange. In both cases Opened reports that the stream is not open. The caller must
// close the Socket in any case.
//
// Offsets count from start. A received event is named by watching.Name; nil means its Item.
func Open(
	ctx context.Context, over *httpwire.Client, start time.Time, req *httpwire.Request, options *Options, watching *watch.Options,
) *Socket {
	opts := options.withDefaults()
	s := &Socket{made: make(chan struct{}), out: newOutbox(client)}
	read := func(conn io.ReadCloser) *watch.Watch {
		w := watchOptions(start, watching)
		return watch.Open(&source{end: s, side: client, conn: conn, start: start, opts: opts, maxReplies: w.MaxEvents}, w)
	}
	s.Stream = over.OpenUpgrade(ctx, start, handshake(req, &opts), checkHandshake, read)
	close(s.made)
	return s
}

func watchOptions(start time.Time, given *watch.Options) watch.Options {
	var out watch.Options
	if given != nil {
		out = *given
	}
	out.Start = start
	if out.Name == nil {
		out.Name = func(ev *transcript.Event) string { return string(ev.Item) }
	}
	if out.Noun == "" {
		out.Noun = "messages"
	}
	return out.WithDefaults()
}

func (s *Socket) halfClosed() bool { return s.half.Load() }

// CloseWrite closes the client's sending side of the connection. A server that ends the connection then, without a close
// frame, does nothing wrong: no closing handshake is possible any more.
func (s *Socket) CloseWrite() error {
	s.half.Store(true)
	return s.Stream.CloseWrite()
}

// Send sends a message, and records it when its sending begins, so that it comes before what it causes. The end of ctx
// interrupts it. It waits for the head of the response first. The error is watch.ErrEnded when the stream has ended or
// is not open.
func (s *Socket) Send(ctx context.Context, m *Message) error {
	if err := m.check(); err != nil {
		return err
	}
	select {
	case <-s.Head():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, is, err := s.Opened(); err != nil || !is {
		return errors.Join(watch.ErrEnded, err)
	}
	return s.send(ctx, m, false)
}

// begun waits for the head of the response.
func (s *Socket) begun() (open, extended bool) {
	<-s.made
	ex, is, _ := s.Opened()
	return is, is && ex.Response.Header.Has(fieldExtensions)
}

func (s *Socket) send(ctx context.Context, m *Message, automatic bool) error {
	return s.out.send(ctx, s, m, automatic)
}

// handshaken has nothing to do, because the server closes the connection (RFC 6455 §7.1.1).
func (s *Socket) handshaken() {}
