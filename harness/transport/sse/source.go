package sse

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// Open begins to watch an event stream. The watch closes the body when the stream ends, or in Close. Closing it must
// unblock a pending Read.
//
// A stream that ends with another error than io.EOF is broken. If the error has a method Failure() transcript.Failure,
// that says how. Any other error counts as transcript.FailClosed. If the body has a method Coded() bool, that reports
// whether its bytes are in a content coding that is not decoded.
func Open(body io.ReadCloser, options *watch.Options) *watch.Watch {
	opts := options.WithDefaults()
	timed := &timedReader{src: body, start: opts.Start}
	return watch.Open(&source{body: body, timed: timed, reader: NewReader(timed, &Options{MaxEvent: opts.MaxEvent})}, opts)
}

// A source reads the blocks of a body.
type source struct {
	body   io.ReadCloser
	timed  *timedReader
	reader *Reader
	err    error // why the stream ended
}

func (s *source) Next() (ev transcript.Event, ok bool) {
	ev, s.err = s.reader.Next()
	ev.At = s.timed.at
	return ev, s.err == nil
}

func (s *source) End() (time.Duration, *transcript.Failure) {
	coded, _ := s.body.(interface{ Coded() bool })
	return s.timed.at, failureOf(s.err, s.reader.Unfinished(), coded != nil && coded.Coded())
}

func (s *source) Close() error { return s.body.Close() }

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
