package sse

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// ErrEnded is returned by Await when the stream has ended without a matching event.
var ErrEnded = errors.New("the stream has ended")

// WatchOptions say what a Watch records, and how much. A stream that exceeds a limit ends with a transcript.FailLimit.
// Name and Keep run in the watch's goroutine, before any other goroutine sees the event.
type WatchOptions struct {
	// Start is the moment from which offsets count. The zero time means the moment at which the watch is opened.
	Start time.Time
	// Name returns the Event.Name of an event. Nil means its Type, or "message", as in a browser. Comments and
	// undispatched blocks have no name.
	Name func(*transcript.Event) string
	// Keep says whether to record an event, a comment or an undispatched block. Stream.Left counts those that are not
	// kept, and Await does not see them. Nil means to keep all.
	Keep func(*transcript.Event) bool
	// MaxEvents limits the number of kept events; 0 means 100,000.
	MaxEvents int
	// MaxBytes limits the size of the values and framings of all kept events; 0 means 64 MiB.
	MaxBytes int64
	// MaxEvent limits the size of one block, like Options.MaxEvent.
	MaxEvent int
}

func (o *WatchOptions) withDefaults() WatchOptions {
	var out WatchOptions
	if o != nil {
		out = *o
	}
	if out.Start.IsZero() {
		out.Start = time.Now()
	}
	if out.Name == nil {
		out.Name = browserName
	}
	if out.Keep == nil {
		out.Keep = func(*transcript.Event) bool { return true }
	}
	if out.MaxEvents <= 0 {
		out.MaxEvents = 100_000
	}
	if out.MaxBytes <= 0 {
		out.MaxBytes = 64 << 20
	}
	return out
}

func browserName(ev *transcript.Event) string {
	if ev.Type == "" {
		return "message"
	}
	return ev.Type
}

// A Watch reads one event stream in the background, records it, and lets others wait for events. It owns one goroutine,
// which ends with the stream or in Close.
//
// Its methods may be called concurrently. The functions that they are given run without a lock, and must not change the
// events.
type Watch struct {
	opts      WatchOptions
	closeBody func() error  // closes the body, once
	done      chan struct{} // closed when the goroutine has returned; ended is set before that

	mu      sync.Mutex
	events  []transcript.Event // append-only; an event does not change
	blanks  map[int]string     // the blank lines after comments, by the index of the comment; see addBlank
	left    int
	changed chan struct{} // closed at the next event or the end; nil while no goroutine waits
	closing bool          // Close was called before the stream ended
	ended   transcript.Ending
	until   time.Duration
	failure *transcript.Failure
}

// Open begins to watch a stream. The watch closes the body when the stream ends, or in Close. Closing it must unblock a
// pending Read.
//
// A stream that ends with another error than io.EOF is broken. If the error has a method Failure() transcript.Failure,
// that says how. Any other error counts as transcript.FailClosed. If the body has a method Coded() bool, that reports
// whether its bytes are in a content coding that is not decoded.
func Open(body io.ReadCloser, opts *WatchOptions) *Watch {
	w := &Watch{opts: opts.withDefaults(), closeBody: sync.OnceValue(body.Close), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer w.closeBody()
		w.read(body)
	}()
	return w
}

// Close ends the watch, if the stream has not ended by itself, and waits for its goroutine.
func (w *Watch) Close() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	err := w.closeBody()
	<-w.done
	return err
}

// Await waits for an event that matches, and returns its index. It begins with the event at the index from. The error
// is ErrEnded when the stream has ended without such an event, and otherwise context.Cause(ctx).
func (w *Watch) Await(ctx context.Context, from int, match func(*transcript.Event) bool) (int, error) {
	i := max(from, 0)
	for {
		events, changed := w.snapshot()
		for ; i < len(events); i++ {
			if match(&events[i]) {
				return i, nil
			}
		}
		if changed == nil {
			return 0, ErrEnded
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// AwaitEnd waits for the end of the stream. The error is context.Cause(ctx).
func (w *Watch) AwaitEnd(ctx context.Context) error {
	if w.Ended() {
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Count returns how many of the events so far count. The channel is closed when the next event is recorded, or when the
// stream has ended.
func (w *Watch) Count(counts func(*transcript.Event) bool) (n int, changed <-chan struct{}) {
	events, changed := w.snapshot()
	for i := range events {
		if counts(&events[i]) {
			n++
		}
	}
	if changed == nil {
		changed = w.done
	}
	return n, changed
}

// Ended reports whether the stream has ended, on either side.
func (w *Watch) Ended() bool {
	return waiting.IsClosed(w.done)
}

// Record fills in what the watch has seen: Events, Left, Ended, Until and Failure. While the stream is open, Ended is
// empty.
func (w *Watch) Record(s *transcript.Stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Events = slices.Clone(w.events) // a copy, because the caller may redact it
	for i, blank := range w.blanks {
		s.Events[i].Framing += blank
	}
	s.Left = w.left
	s.Ended, s.Until = w.ended, w.until
	s.Failure = nil
	if w.failure != nil {
		f := *w.failure
		s.Failure = &f
	}
}

// snapshot returns the events so far, and a channel that is closed at the next event or the end. After the end, the
// channel is nil.
func (w *Watch) snapshot() ([]transcript.Event, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != "" {
		return w.events, nil
	}
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.events, w.changed
}

// signal wakes all goroutines that wait. The caller holds the lock.
func (w *Watch) signal() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
