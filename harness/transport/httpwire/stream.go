package httpwire

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
	"github.com/lockstep-dev/lockstep/internal/coding"
)

// A Stream is an event stream on its connection. It is read and recorded in the background; the Watch says what has
// come and who ended it.
type Stream struct {
	*sse.Watch
	cancel context.CancelCauseFunc // of what comes before the head
	head   chan struct{}           // closed when the head has come, or none will
	// What follows is set before that.
	ex      *transcript.Exchange
	cv      *Conversation // nil when the response is no event stream
	err     error
	codings []string // that the stream is in, and is taken out of
}

// Stream sends a request. When the response is an event stream (2xx and text/event-stream) its events are watched, and
// the caller closes the Stream; ctx has no say from the response head on. One in known content codings is taken out of them.
// When it is anything else, the Stream is nil
// and the response is read to its end, as in Do. Offsets count from start, whatever the options say. To name the stream,
// in the Exchange too, is up to the caller.
//
// The error is for requests that cannot be sent; then there is no Exchange.
func (c *Client) Stream(
	ctx context.Context, start time.Time, req *Request, opts *sse.WatchOptions,
) (*transcript.Exchange, *Stream, error) {
	s := c.BeginStream(ctx, start, req, opts)
	ex, is, err := s.Opened()
	if !is {
		s.Close()
		s = nil
	}
	return ex, s, err
}

// BeginStream is Stream that does not wait for the head: some servers send it with the first event. The caller closes the
// Stream, whatever the response is. Before the head, what ends the stream, or ctx, ends the exchange with a failure.
func (c *Client) BeginStream(ctx context.Context, start time.Time, req *Request, opts *sse.WatchOptions) *Stream {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream{cancel: cancel, head: make(chan struct{})}
	go func() {
		defer close(s.head)
		ex, cv, err := c.begin(ctx, start, req)
		s.ex, s.err = ex, err
		switch {
		case cv == nil:
		case !isEventStream(ex.Response) || cv.body.framing == noBody:
			c.readRest(ctx, start, ex, cv)
		default:
			cv.detach()
			ex.Done = ex.Head
			s.cv = cv
			if names := ex.Response.Header.Codings(); len(names) > 0 && coding.Known(names) {
				s.codings = names
			}
		}
	}()
	watch := sse.WatchOptions{}
	if opts != nil {
		watch = *opts
	}
	watch.Start = start
	s.Watch = sse.Open(&streamBody{s: s}, &watch)
	return s
}

// Head is closed when the response head has come, or none will.
func (s *Stream) Head() <-chan struct{} { return s.head }

// Opened waits for the head and returns what came of the request, and whether that is an event stream.
func (s *Stream) Opened() (ex *transcript.Exchange, is bool, err error) {
	<-s.head
	return s.ex, s.cv != nil, s.err
}

// Decoded reports whether the stream is in content codings, and was taken out of them. It waits for the head.
func (s *Stream) Decoded() bool {
	<-s.head
	return len(s.codings) > 0
}

// GiveUp ends a stream whose head has not come, for a cause. It does nothing when it has.
func (s *Stream) GiveUp(cause error) {
	s.cancel(cause)
	<-s.head
}

// errNoHead is why a stream is given up that is closed before its head came. It counts as a time-out: the server has had its
// chance.
var errNoHead error = noHead{}

type noHead struct{}

func (noHead) Error() string        { return "the stream was closed" }
func (noHead) Is(target error) bool { return target == context.DeadlineExceeded }

// A streamBody is the body of a response whose head may not have come yet.
type streamBody struct {
	s       *Stream
	content io.Reader // the body without its content codings; nil before the first Read
}

func (b *streamBody) Read(p []byte) (int, error) {
	if <-b.s.head; b.s.cv == nil {
		return 0, io.EOF
	}
	if len(b.s.codings) == 0 {
		return b.s.cv.Read(p)
	}
	var n int
	var err error
	if b.content == nil {
		b.content, err = coding.NewReader(b.s.codings, b.s.cv, 0)
	}
	if err == nil {
		n, err = b.content.Read(p)
	}
	if _, ours := errors.AsType[*wireError](err); err != nil && err != io.EOF && !ours {
		err = malformed(transcript.PhaseBody, "the stream is not in its content coding %s: %v", strings.Join(b.s.codings, ", "), err)
	}
	return n, err
}

// Coded reports whether the stream is in content codings, and is not taken out of them.
func (b *streamBody) Coded() bool {
	<-b.s.head
	return b.s.cv != nil && len(b.s.codings) == 0 && len(b.s.ex.Response.Header.Codings()) > 0
}

func (b *streamBody) Close() error {
	if b.s.GiveUp(errNoHead); b.s.cv == nil {
		return nil
	}
	return b.s.cv.Close()
}

// CloseWrite ends our side of the connection, as a client that will send nothing more. The stream goes on until the
// server ends it. Before the head there is nothing to end by itself.
func (s *Stream) CloseWrite() error {
	select {
	case <-s.head:
	default:
		return errNoHead
	}
	if s.cv == nil {
		return nil
	}
	return s.cv.CloseWrite()
}

// Reset ends the stream as Close does, but with a reset of the connection, as a client that has crashed.
func (s *Stream) Reset() error {
	if s.GiveUp(errNoHead); s.cv != nil {
		s.cv.resetting.Store(true)
	}
	return s.Close()
}

func isEventStream(resp *transcript.Response) bool {
	value, _ := resp.Header.Get("Content-Type")
	mediaType, _, _ := strings.Cut(value, ";")
	return resp.Status/100 == 2 && strings.EqualFold(strings.Trim(mediaType, " \t\r\n"), "text/event-stream")
}
