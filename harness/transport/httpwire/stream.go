package httpwire

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// A Stream is an event stream on its connection, or a connection that has left HTTP. Its Watch reads and records it in
// the background.
type Stream struct {
	*watch.Watch
	cancel context.CancelCauseFunc // ends the exchange until the head has come
	head   chan struct{}           // closed when the head has come or cannot come any more
	// The other fields are set before head is closed.
	ex      *transcript.Exchange
	cv      *conversation // nil when the response does not begin the stream
	err     error
	codings []string // content codings that are decoded
}

// OpenStream sends a request for an event stream, and returns at once, because some servers send the head of the
// response with the first event. If the response is an event stream (2xx and text/event-stream), its events are
// watched. Known content codings are decoded. Any other response is read to its end, as in Do. The caller must close
// the Stream in both cases. Until the head has come, ctx or Close end the exchange with a failure. After that, ctx does
// not matter.
//
// read begins to watch the events in the body, with offsets from start. The caller sets the stream's name, also in the
// Exchange.
func (c *Client) OpenStream(ctx context.Context, start time.Time, req *Request, read func(io.ReadCloser) *watch.Watch) *Stream {
	return c.openStream(ctx, start, req, func(s *Stream, cv *conversation) (bool, error) {
		if !isEventStream(s.ex.Response) || cv.body.framing == noBody {
			return false, nil
		}
		if names := s.ex.Response.Header.Codings(); len(names) > 0 && transcript.KnownCodings(names) {
			s.codings = names
		}
		return true, nil
	}, read)
}

// OpenUpgrade is OpenStream for a request to continue with another protocol on the connection. If the response has the
// status 101, and check accepts it, everything after its head is the stream. An error of check says why the response is
// malformed. Use Write to send.
func (c *Client) OpenUpgrade(
	ctx context.Context, start time.Time, req *Request, check func(*transcript.Exchange) error, read func(io.ReadCloser) *watch.Watch,
) *Stream {
	return c.openStream(ctx, start, req, func(s *Stream, cv *conversation) (bool, error) {
		if s.ex.Response.Status != 101 {
			return false, nil
		}
		if err := check(s.ex); err != nil {
			return false, malformed(transcript.PhaseHead, "%v", err)
		}
		cv.body.framing = upgraded
		return true, nil
	}, read)
}

// openStream sends a request. begins decides whether the response begins the stream. Its error is a wireError.
func (c *Client) openStream(
	ctx context.Context, start time.Time, req *Request,
	begins func(*Stream, *conversation) (bool, error), read func(io.ReadCloser) *watch.Watch,
) *Stream {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream{cancel: cancel, head: make(chan struct{})}
	go func() {
		defer close(s.head)
		var cv *conversation
		if s.ex, cv, s.err = c.begin(ctx, start, req); cv == nil {
			return
		}
		switch is, err := begins(s, cv); {
		case err != nil:
			cv.giveUp()
			s.ex.Failure, s.ex.Done = failure(ctx, err), time.Since(start)
		case !is:
			c.readRest(ctx, start, s.ex, cv)
		default:
			cv.detach()
			s.ex.Done = s.ex.Head
			s.cv = cv
		}
	}()
	s.Watch = read(&streamBody{s: s})
	return s
}

// Head is closed when the response head has come or cannot come any more.
func (s *Stream) Head() <-chan struct{} { return s.head }

// Opened waits for the head. It returns the exchange, and whether its response begins the stream. The error is for
// requests that cannot be sent. Then there is no Exchange.
func (s *Stream) Opened() (ex *transcript.Exchange, is bool, err error) {
	<-s.head
	return s.ex, s.cv != nil, s.err
}

// Decoded reports whether content codings of the stream are decoded. It waits for the head.
func (s *Stream) Decoded() bool {
	<-s.head
	return len(s.codings) > 0
}

// GiveUp ends a stream whose head has not come, with a cause. It does nothing when the head has come.
func (s *Stream) GiveUp(cause error) {
	s.cancel(cause)
	<-s.head
}

// errNoHead is the cause when a stream is closed before its head has come. It counts as a timeout, because the server
// had time to send one.
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
		b.content, err = transcript.NewDecoder(b.s.codings, b.s.cv, 0)
	}
	if err == nil {
		n, err = b.content.Read(p)
	}
	if _, ours := errors.AsType[*wireError](err); err != nil && err != io.EOF && !ours {
		err = malformed(transcript.PhaseBody, "the stream is not in its content coding %s: %v", strings.Join(b.s.codings, ", "), err)
	}
	return n, err
}

// Coded reports whether the stream has content codings that are not decoded.
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

// Write sends bytes on a stream of OpenUpgrade. The end of ctx interrupts it, and so does the end of the stream.
// Only one goroutine may write at a time. An error has a method Failure() transcript.Failure, and no more bytes can be sent after it.
func (s *Stream) Write(ctx context.Context, p []byte) (int, error) {
	select {
	case <-s.head:
	case <-ctx.Done():
		return 0, contextFailure(ctx, transcript.PhaseHead, "")
	}
	if s.cv == nil {
		return 0, wireErrorf(transcript.FailClosed, transcript.PhaseSend, "the stream is not open")
	}
	return s.cv.write(ctx, p)
}

// CloseWrite closes the client's sending side of the connection. The stream continues until the server ends it. It
// returns an error before the head has come.
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

// Reset ends the stream like Close, but with a reset of the connection, like a client that has crashed.
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
