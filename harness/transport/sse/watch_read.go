package sse

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// read records events until the stream ends or exceeds a limit.
func (w *Watch) read(body io.Reader) {
	timed := &timedReader{src: body, start: w.opts.Start}
	r := NewReader(timed, &Options{MaxEvent: w.opts.MaxEvent})
	// events has at most one event more than w.events, which no other goroutine sees. Name and Keep get an event in its
	// final place, which is used again when the event is not kept.
	var events []transcript.Event
	var size int64
	kept := false // the last event was kept
	for {
		ev, err := r.Next()
		if err != nil {
			coded, _ := body.(interface{ Coded() bool })
			w.end(timed.at, failureOf(err, r.Unfinished(), coded != nil && coded.Coded()))
			return
		}
		if ev.Comment && ev.Undispatched {
			w.addBlank(len(events)-1, ev.Framing, kept)
			continue
		}
		ev.At = timed.at
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
			w.end(timed.at, limitFailure("more than %d events came", w.opts.MaxEvents))
			return
		case size > w.opts.MaxBytes:
			w.end(timed.at, limitFailure("more than %d bytes of events came", w.opts.MaxBytes))
			return
		}
		w.publish(events)
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

// publish makes the last event visible to others.
func (w *Watch) publish(events []transcript.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = events
	w.signal()
}

// end records how the stream ended. failure is nil when the server ended it between two events. If Close was called
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

// failureOf returns how a stream broke whose Reader returned err. It returns nil if the stream ended between two
// blocks. It does not show bytes in a content coding, because they may contain a secret.
func failureOf(err error, unfinished []byte, coded bool) *transcript.Failure {
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

func limitFailure(format string, bound any) *transcript.Failure {
	return &transcript.Failure{
		Kind: transcript.FailLimit, Phase: transcript.PhaseBody, Text: fmt.Sprintf(format, bound),
	}
}

// excerpt returns the first bytes of b, quoted.
func excerpt(b []byte) string {
	const maxExcerpt = 200
	if len(b) > maxExcerpt {
		return strconv.Quote(string(b[:maxExcerpt])) + "…"
	}
	return strconv.Quote(string(b))
}

// A timedReader records when the last Read returned. That is when the last byte of an event arrived, even if several
// events arrive together.
type timedReader struct {
	src   io.Reader
	start time.Time
	at    time.Duration
}

func (r *timedReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	r.at = time.Since(r.start)
	return n, err
}
