// Package sse writes event streams (CT 5): the head at once, every event as soon as the reader takes it, and an end as
// soon as there is a reason for one.
package sse

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
)

// A Source is where a stream gets its events from. It bounds what a slow reader can cost: a stream holds no event but the
// one it is writing.
type Source interface {
	// Ready delivers when Next may have something new to say, and after Wake.
	Ready() <-chan struct{}
	// Wake makes Ready deliver. It is called from any goroutine and does not block.
	Wake()
	// Next returns the next frame, nil if there is none yet. When more is false there will be none, and the stream ends.
	Next() (frame []byte, more bool)
}

// Options shape one stream.
type Options struct {
	// First is sent right behind the head; nothing if nil.
	First []byte
	// Keepalive is sent at every multiple of Interval since the stream was opened, whatever else is sent; nothing if nil.
	Keepalive []byte
	Interval  time.Duration
	// Ends says that the stream has an end of its own: its connection is used again, as after any other answer.
	Ends bool
	// Unbuffered asks proxies to pass the stream on as it comes (CT 5, S44).
	Unbuffered bool
}

// Head writes the head of a stream and sends it. It is all there is of an answer to HEAD.
func Head(w http.ResponseWriter, opts Options) error {
	h := w.Header()
	if opts.Unbuffered {
		h.Set("X-Accel-Buffering", "no")
	}
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("Connection", "keep-alive")
	w.WriteHeader(http.StatusOK)
	return control(w).Flush()
}

// control returns the controller of the writer below Echo's, which would keep the error of a flush to itself.
func control(w http.ResponseWriter) *http.ResponseController {
	if outer, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		w = outer.Unwrap()
	}
	return http.NewResponseController(w)
}

// Serve answers with a stream. It returns nil when the source has ended, the cause when ctx ends, and an error when the
// reader cannot be written to, [conn.ErrStalled] if it has stopped reading. ctx must end with the request; it may end
// earlier. A write that is blocked then is interrupted.
//
// When nothing was interrupted, the answer that Serve leaves behind is complete. Its connection is not used again, unless the
// options say that the stream ends.
func Serve(ctx context.Context, w http.ResponseWriter, src Source, opts Options) error {
	s := &stream{
		w:    w,
		rc:   control(w),
		src:  src,
		opts: opts,
	}
	if opts.Keepalive != nil {
		defer startHeartbeat(opts.Interval, func() {
			s.due.Store(true)
			src.Wake()
		}).stop()
	}
	if !opts.Ends {
		conn.DiscardInput(ctx)
	}
	defer s.interruptWith(ctx)()

	err := s.run(ctx)
	// A stall is asked for first, because net/http ends the context of a request whose answer cannot be written.
	if !errors.Is(err, conn.ErrStalled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	src  Source
	opts Options

	due atomic.Bool // a keepalive is to be sent

	unsent bool // something was written and not flushed
}

func (s *stream) run(ctx context.Context) error {
	if err := Head(s.w, s.opts); err != nil {
		return err
	}
	if err := s.write(s.opts.First); err != nil {
		return err
	}
	for {
		state, err := s.drain()
		if err == nil {
			err = s.flush()
		}
		if err != nil || state == ended || ctx.Err() != nil {
			return err
		}
		if state == empty {
			// One channel for events, keepalives and the end: a select over three costs more than the rest of the loop.
			<-s.src.Ready()
		}
		if s.due.Swap(false) {
			if err := s.write(s.opts.Keepalive); err != nil {
				return err
			}
		}
	}
}

// What drain leaves the source as.
type state int

const (
	empty state = iota // for now
	busy               // there may be more
	ended
)

// burst is after how many frames in a row a keepalive gets its turn.
const burst = 64

// drain writes what the source has.
func (s *stream) drain() (state, error) {
	for range burst {
		frame, more := s.src.Next()
		switch {
		case frame == nil && !more:
			return ended, nil
		case frame == nil:
			return empty, nil
		}
		if err := s.write(frame); err != nil {
			return busy, err
		}
	}
	return busy, nil
}

func (s *stream) write(frame []byte) error {
	s.unsent = s.unsent || len(frame) > 0
	_, err := s.w.Write(frame)
	return err
}

func (s *stream) flush() error {
	if !s.unsent {
		return nil
	}
	s.unsent = false
	return s.rc.Flush()
}

// interruptWith makes the stream see the end of the context, in a blocked write too. The function it returns undoes that,
// so that the end of the answer can be written.
func (s *stream) interruptWith(ctx context.Context) (undo func()) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		s.setDeadline(time.Unix(1, 0))
		s.src.Wake()
	})
	return func() {
		if !stop() {
			<-interrupted
			s.setDeadline(time.Time{})
		}
	}
}

// setDeadline does nothing where there are no deadlines: such a writer, in a test, does not block either.
func (s *stream) setDeadline(t time.Time) { _ = s.rc.SetWriteDeadline(t) }
