// Package watch records what arrives on one wire in the background, and lets others wait for it.
//
// A [Source] reads one kind of wire: event streams, sockets, or the output of a process. A [Watch] keeps what it reads,
// together with what lockstep itself sends on the wire, in one order.
package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// ErrEnded is returned by Await when the stream has ended without a matching event.
var ErrEnded = errors.New("the stream has ended")

// A Source reads the events of one wire. Only one goroutine reads. Close may be called meanwhile. If the Source has a
// method Drop(), that is called when nothing will call Next any more, even while Close runs.
type Source interface {
	// Next returns the next event with its At. It returns false at the end of the wire.
	Next() (transcript.Event, bool)
	// End says when the wire ended, and how it broke. The failure is nil when the server ended it between two events.
	End() (time.Duration, *transcript.Failure)
	// Close ends the wire, and unblocks Next. It is called once.
	Close() error
}

// Options say what a Watch records, and how much. A wire that exceeds a limit ends with a transcript.FailLimit.
// Name and Keep run in the watch's goroutine, before any other goroutine sees the event.
type Options struct {
	// Start is the moment from which offsets count. The zero time means the moment at which the watch is opened.
	Start time.Time
	// Name returns the Event.Name of an event, which is also called for what is sent. Nil means its Type, or "message",
	// as in a browser. Comments and undispatched blocks have no name.
	Name func(*transcript.Event) string
	// Keep says whether to record an event, a comment or an undispatched block. Stream.Left counts those that are not
	// kept, and Await does not see them. Nil means to keep all.
	Keep func(*transcript.Event) bool
	// MaxEvents limits the number of kept events that the other side has sent; 0 means 100,000.
	MaxEvents int
	// MaxBytes limits the size of the values and framings of these events; 0 means 64 MiB.
	MaxBytes int64
	// MaxEvent limits the size of one event in bytes, as its Source counts them; 0 means the Source's own limit.
	MaxEvent int
	// Noun is what failures call several events; "" means "events".
	Noun string
}

// WithDefaults returns a copy with the defaults filled in. The options may be nil.
func (o *Options) WithDefaults() Options {
	var out Options
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
	if out.Noun == "" {
		out.Noun = "events"
	}
	return out
}

func browserName(ev *transcript.Event) string {
	if ev.Type == "" {
		return "message"
	}
	return ev.Type
}

// A Watch reads one wire in the background, records it, and lets others wait for events. It owns one goroutine, which
// ends with the wire or in Close.
//
// Its methods may be called concurrently. The functions that they are given run without a lock, and must not change the
// events.
type Watch struct {
	opts  Options
	src   Source
	close func() error  // closes the source, once
	done  chan struct{} // closed when the goroutine has returned; ended is set before that

	mu      sync.Mutex
	events  events
	came    int            // how many of the events lockstep has not sent
	size    int64          // of their values and framings
	blanks  map[int]string // the blank lines after comments, by the index of the comment; see addBlank
	left    int
	changed chan struct{} // closed at the next event or the end; nil while no goroutine waits
	closing bool          // Close was called before the wire ended
	ended   transcript.Ending
	until   time.Duration
	failure *transcript.Failure
}

// Open begins to watch a wire. The options are complete. The watch closes the source when the wire ends, or in Close.
func Open(src Source, opts Options) *Watch {
	w := &Watch{opts: opts, src: src, close: sync.OnceValue(src.Close), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer w.close()
		w.read()
		if s, ok := src.(interface{ Drop() }); ok {
			s.Drop()
		}
	}()
	return w
}

// Close ends the watch, if the wire has not ended by itself, and waits for its goroutine.
func (w *Watch) Close() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	err := w.close()
	<-w.done
	return err
}

// Await waits for an event that matches, and returns its index. It begins with the event at the index from. The error
// is ErrEnded when the stream has ended without such an event, and otherwise context.Cause(ctx).
func (w *Watch) Await(ctx context.Context, from int, match func(*transcript.Event) bool) (int, error) {
	i := max(from, 0)
	for {
		events, changed := w.snapshot()
		for ; i < events.len(); i++ {
			if match(events.at(i)) {
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
	for i := range events.len() {
		if counts(events.at(i)) {
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
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Record fills in what the watch has seen: Events, Left, Ended, Until and Failure. While the stream is open, Ended is
// empty.
func (w *Watch) Record(s *transcript.Stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Events = w.events.all() // a copy, because the caller may redact it
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
func (w *Watch) snapshot() (events, <-chan struct{}) {
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

// read records events until the wire ends or exceeds a limit.
func (w *Watch) read() {
	last, kept := -1, false // the index of the last event that was kept, and whether it was the last one that came
	var ev transcript.Event // one variable for all events, because Name and Keep get its address
	for {
		var ok bool
		if ev, ok = w.src.Next(); !ok {
			w.end(w.src.End())
			return
		}
		if ev.Comment && ev.Undispatched {
			w.addBlank(last, ev.Framing, kept)
			continue
		}
		if !ev.Comment && !ev.Undispatched {
			ev.Name = w.opts.Name(&ev)
		}
		if kept = w.opts.Keep(&ev); !kept {
			w.skip()
			continue
		}
		var failure *transcript.Failure
		if last, failure = w.add(&ev); failure != nil {
			w.end(ev.At, failure)
			return
		}
	}
}

// Sent records an event that lockstep has sent. It is called in the order of sending.
func (w *Watch) Sent(ev transcript.Event) {
	ev.Sent, ev.At = true, time.Since(w.opts.Start)
	ev.Name = w.opts.Name(&ev)
	_, _ = w.add(&ev) // lockstep sends what the scenario says, so only the server's events can exceed a limit
}

// add records an event and returns its index, or the limit that it exceeds.
func (w *Watch) add(ev *transcript.Event) (int, *transcript.Failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	came, size := w.came, w.size
	if !ev.Sent {
		came++
		size += int64(len(ev.Data) + len(ev.Type) + len(ev.ID) + len(ev.Retry) + len(ev.Framing))
	}
	switch {
	case ev.Sent:
	case came > w.opts.MaxEvents:
		return 0, w.limitFailure("more than %d %s came", w.opts.MaxEvents)
	case size > w.opts.MaxBytes:
		return 0, w.limitFailure("more than %d bytes of %s came", w.opts.MaxBytes)
	}
	w.came, w.size = came, size
	w.signal()
	return w.events.add(ev), nil
}

func (w *Watch) limitFailure(format string, bound any) *transcript.Failure {
	return &transcript.Failure{
		Kind: transcript.FailLimit, Phase: transcript.PhaseBody, Text: fmt.Sprintf(format, bound, w.opts.Noun),
	}
}

// addBlank records the blank line after a comment. The comment is already published and must not change, so Record adds
// the blank line to its framing.
func (w *Watch) addBlank(i int, blank string, kept bool) {
	if !kept {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blanks == nil {
		w.blanks = map[int]string{}
	}
	w.blanks[i] = blank
}

// skip counts an event that is not kept.
func (w *Watch) skip() {
	w.mu.Lock()
	w.left++
	w.mu.Unlock()
}

// end records how the wire ended. failure is nil when the server ended it between two events. If Close was called
// before, the client has ended it.
func (w *Watch) end(at time.Duration, failure *transcript.Failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = at
	switch {
	case w.closing:
		w.ended = transcript.EndedByClient
	case failure == nil:
		w.ended = transcript.EndedByServer
	default:
		w.ended, w.failure = transcript.EndedBroken, failure
	}
	w.signal()
}
