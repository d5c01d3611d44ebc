package sse

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// read records events until the stream ends, or goes beyond a bound.
func (w *Watch) read(body io.Reader) {
	clock := &clock{src: body, start: w.opts.Start}
	r := NewReader(clock, &Options{MaxEvent: w.opts.MaxEvent})
	// events is ahead of w.events by one, which nobody else can see: an event is named and judged in the place where it
	// will stay, and its place is used again if it is not kept.
	var events []transcript.Event
	var size int64
	kept := false // the last event
	for {
		ev, err := r.Next()
		if err != nil {
			coded, _ := body.(interface{ Coded() bool })
			w.end(clock.at, broken(err, r.Unfinished(), coded != nil && coded.Coded()))
			return
		}
		if ev.Comment && ev.Undispatched {
			w.follow(len(events)-1, ev.Framing, kept)
			continue
		}
		ev.At = clock.at
		events = append(events, ev)
		n := len(events)
		last := &events[n-1]
		if !last.Comment && !last.Undispatched {
			last.Name = w.opts.Name(last)
		}
		if kept = w.opts.Keep(last); !kept {
			events = events[:n-1]
			w.skip()
			continue
		}
		size += int64(len(ev.Data) + len(ev.Type) + len(ev.ID) + len(ev.Retry) + len(ev.Framing))
		switch {
		case n > w.opts.MaxEvents:
			w.end(clock.at, tooMuch("more than %d events came", w.opts.MaxEvents))
			return
		case size > w.opts.MaxBytes:
			w.end(clock.at, tooMuch("more than %d bytes of events came", w.opts.MaxBytes))
			return
		}
		w.publish(events)
	}
}

// follow adds the blank line behind a comment to its framing. The comment is known already, so that this is done to the record.
func (w *Watch) follow(i int, blank string, kept bool) {
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

// publish makes the last of the events known.
func (w *Watch) publish(events []transcript.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = events
	w.signal()
}

// end notes how the stream ended; failure is nil when the server ended it between two events. A stream that ends while
// we close it was closed by us.
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

// broken says how a stream broke whose Reader returned err, or nil if it ended between two blocks. Of one in a coding it shows
// nothing: who decodes it may find a secret.
func broken(err error, unfinished []byte, coded bool) *transcript.Failure {
	if err == io.EOF && unfinished == nil {
		return nil
	}
	f := transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody, Text: err.Error()}
	var known interface{ Failure() transcript.Failure }
	switch {
	case err == io.EOF:
		f.Text = "the stream ended"
	case errors.Is(err, ErrTooLong):
		f.Kind = transcript.FailLimit
	case errors.As(err, &known):
		f = known.Failure()
	}
	switch {
	case unfinished != nil && coded:
		f.Text += fmt.Sprintf(" inside an event, after %d bytes of it in a content coding that is not decoded", len(unfinished))
	case unfinished != nil:
		f.Text += " inside an event: " + excerpt(unfinished)
	}
	return &f
}

func tooMuch(format string, bound any) *transcript.Failure {
	return &transcript.Failure{
		Kind: transcript.FailLimit, Phase: transcript.PhaseBody, Text: fmt.Sprintf(format, bound),
	}
}

// excerpt returns the first bytes of b, quoted.
func excerpt(b []byte) string {
	const most = 200
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}

// A clock notes when the last Read returned. That is when the last byte of an event came, however many events came with
// it and however long it takes to look at them.
type clock struct {
	src   io.Reader
	start time.Time
	at    time.Duration
}

func (c *clock) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.at = time.Since(c.start)
	return n, err
}
