// Package sse writes event streams (CT 5). It sends the head at once, and every event as soon as the reader takes it.
// A stream ends as soon as there is a reason to end it.
package sse

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/heartbeat"
)

// A Source provides the events of a stream. The source limits the memory for a slow reader: the stream itself holds
// only the event that it is writing.
type Source interface {
	// Ready receives a token when Next may have something new, and after Wake.
	Ready() <-chan struct{}
	// Wake puts a token into Ready. Any goroutine may call it, and it does not block.
	Wake()
	// Next returns the next frame, or nil if there is none yet. When more is false, the stream ends.
	Next() (frame []byte, more bool)
}

// Options shape one stream.
type Options struct {
	// First is sent directly after the head, unless it is nil.
	First []byte
	// Keepalive is sent at every multiple of Interval since the stream was opened, in addition to the events, unless
	// it is nil.
	Keepalive []byte
	Interval  time.Duration
	// Ends is true for a stream that ends by itself. Its connection can then be used again, as after any other answer.
	Ends bool
	// Unbuffered asks proxies to pass the stream on without buffering (CT 5, S44).
	Unbuffered bool
}

// Head writes and flushes the head of a stream. For HEAD, that is the whole answer.
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

// control returns the controller of the writer inside Echo's, because Echo's does not return the error of a flush.
func control(w http.ResponseWriter) *http.ResponseController {
	if outer, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		w = outer.Unwrap()
	}
	return http.NewResponseController(w)
}

// Serve answers with a stream. It returns nil when the source has ended, the cause when ctx ends, and an error when
// writing fails: [conn.ErrStalled] if the reader has stopped reading. ctx must end with the request, and may end
// earlier. Its end interrupts a blocked write.
//
// Unless it was interrupted, the answer is complete when Serve returns. Its connection is not used again, unless the
// options say that the stream ends.
func Serve(ctx context.Context, w http.ResponseWriter, src Source, opts Options) error {
	s := &stream{
		w:    w,
		rc:   control(w),
		src:  src,
		opts: opts,
	}
	if opts.Keepalive != nil {
		defer heartbeat.Start(opts.Interval, func() {
			s.due.Store(true)
			src.Wake()
		}).Stop()
	}
	if !opts.Ends {
		conn.DiscardInput(ctx)
	}
	defer s.interruptWith(ctx)()

	err := s.run(ctx)
	// A stall has precedence, because net/http ends the context of a request whose answer cannot be written.
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

	due atomic.Bool // a keepalive must be sent

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
			// One channel signals events, keepalives and the end, because a select over three costs more than the rest
			// of the loop.
			<-s.src.Ready()
		}
		if s.due.Swap(false) {
			if err := s.write(s.opts.Keepalive); err != nil {
				return err
			}
		}
	}
}

// A state is what drain knows about the source.
type state int

const (
	empty state = iota // for now
	busy               // there may be more
	ended
)

// burst is how many frames are written in a row before a keepalive may be sent.
const burst = 64

// drain writes the frames that the source has, at most burst.
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

// interruptWith makes the end of the context end the stream, even during a blocked write. undo restores the
// connection, so that the end of the answer can be written.
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

// setDeadline ignores errors, because writers without deadlines, in tests, do not block either.
func (s *stream) setDeadline(t time.Time) { _ = s.rc.SetWriteDeadline(t) }

// Data returns the frame of an event without a name. The data must be a single line, such as JSON without blanks.
func Data(line []byte) []byte {
	return frame("data: ", line)
}

// Event returns the frame of a named event.
func Event(name string, line []byte) []byte {
	return frame("event: "+name+"\ndata: ", line)
}

// Comment returns the frame of a comment, which clients ignore.
func Comment(text string) []byte {
	return frame(": ", []byte(text))
}

func frame(head string, line []byte) []byte {
	b := make([]byte, 0, len(head)+len(line)+2)
	b = append(b, head...)
	b = append(b, line...)
	return append(b, "\n\n"...)
}
