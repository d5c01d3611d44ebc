// Package sse writes event streams (CT 5): the head at once, every event as soon as the reader takes it, and an end as
// soon as there is a reason for one.
package sse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/server/conn"
)

// ErrStalled is why a stream is ended whose reader took nothing for [Options.WriteTimeout].
var ErrStalled = errors.New("the reader has stopped reading")

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
	// WriteTimeout is how long the reader may take nothing while something is waiting for it; one minute if 0. The reader
	// may get up to an eighth more.
	WriteTimeout time.Duration
}

// Head writes the head of a stream and sends it. It is all there is of an answer to HEAD.
func Head(w http.ResponseWriter) error {
	h := w.Header()
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
// reader cannot be written to. ctx must end with the request; it may end earlier. A write that is blocked then is
// interrupted.
//
// When nothing was interrupted, the answer that Serve leaves behind is complete. Its connection is not used again.
func Serve(ctx context.Context, w http.ResponseWriter, src Source, opts Options) error {
	s := &stream{
		w:    w,
		rc:   control(w),
		src:  src,
		opts: opts,
	}
	s.opts.WriteTimeout = cmp.Or(opts.WriteTimeout, time.Minute)
	if opts.Keepalive != nil {
		defer startMetronome(opts.Interval, func() {
			s.due.Store(true)
			src.Wake()
		}).stop()
	}
	conn.Deafen(ctx)
	defer s.interruptWith(ctx)()

	err := s.run(ctx)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(s.deadline):
		// Asked first, because net/http ends the context of a request whose answer cannot be written.
		return fmt.Errorf("%w: it took nothing for %s", ErrStalled, s.opts.WriteTimeout)
	case ctx.Err() != nil:
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

	unsent   int       // bytes written since the deadline was set; 0 if everything is flushed
	deadline time.Time // when the reader counts as stalled

	mu    sync.Mutex
	ended bool // the context has ended, and the write deadline stays in the past
}

func (s *stream) run(ctx context.Context) error {
	s.extend()
	if err := Head(s.w); err != nil {
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

// piece is how much a reader has to take in WriteTimeout to count as one that reads.
const piece = 64 << 10

func (s *stream) write(frame []byte) error {
	for len(frame) > 0 {
		if s.unsent == 0 || s.unsent >= piece {
			s.extend()
			s.unsent = 0
		}
		n := min(len(frame), piece)
		if _, err := s.w.Write(frame[:n]); err != nil {
			return err
		}
		s.unsent += n
		frame = frame[n:]
	}
	return nil
}

func (s *stream) flush() error {
	if s.unsent == 0 {
		return nil
	}
	s.unsent = 0
	return s.rc.Flush()
}

// extend gives the reader its time anew. Setting a deadline costs as much as all else that an event costs here, so it is
// set a little further away than it has to be, and not again until that is used up.
func (s *stream) extend() {
	now := time.Now()
	if s.deadline.Sub(now) >= s.opts.WriteTimeout {
		return
	}
	s.deadline = now.Add(s.opts.WriteTimeout + s.opts.WriteTimeout/8)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.setDeadline(s.deadline)
	}
}

// interruptWith makes the stream see the end of the context, in a blocked write too. The function it returns undoes that,
// and leaves time to write the end of the answer.
func (s *stream) interruptWith(ctx context.Context) (undo func()) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		s.setDeadline(time.Unix(1, 0))
		s.src.Wake()
	})
	return func() {
		if !stop() {
			<-interrupted
		}
		s.setDeadline(time.Now().Add(s.opts.WriteTimeout))
	}
}

// setDeadline does nothing where there are no deadlines: such a writer, in a test, does not block either.
func (s *stream) setDeadline(t time.Time) { _ = s.rc.SetWriteDeadline(t) }
