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
	Decoded bool // it is in content codings, and was taken out of them
	cv      *Conversation
}

// Stream sends a request. When the response is an event stream (2xx and text/event-stream) its events are watched, and
// the caller closes the Stream; ctx has no say from the response head on. One in known content codings is taken out of them. When it is anything else, the Stream is nil
// and the response is read to its end, as in Do. Offsets count from start, whatever the options say. To name the stream,
// in the Exchange too, is up to the caller.
//
// The error is for requests that cannot be sent; then there is no Exchange.
func (c *Client) Stream(
	ctx context.Context, start time.Time, req *Request, opts *sse.WatchOptions,
) (*transcript.Exchange, *Stream, error) {
	ex, cv, err := c.begin(ctx, start, req)
	switch {
	case cv == nil:
		return ex, nil, err
	case !isEventStream(ex.Response) || cv.body.framing == noBody:
		c.readRest(ctx, start, ex, cv)
		return ex, nil, nil
	}
	cv.detach()
	ex.Done = ex.Head
	watch := sse.WatchOptions{}
	if opts != nil {
		watch = *opts
	}
	watch.Start = start
	names := ex.Response.Header.Codings()
	if len(names) == 0 || !coding.Known(names) {
		return ex, &Stream{Watch: sse.Open(cv, &watch), cv: cv}, nil
	}
	content, err := coding.NewReader(names, cv, 0)
	return ex, &Stream{Watch: sse.Open(&decoded{cv, content, names}, &watch), Decoded: true, cv: cv}, err
}

// decoded is what is in the content codings of a Conversation.
type decoded struct {
	*Conversation
	content io.Reader
	names   []string
}

func (d *decoded) Read(p []byte) (int, error) {
	n, err := d.content.Read(p)
	if _, ours := errors.AsType[*wireError](err); err != nil && err != io.EOF && !ours {
		err = malformed(transcript.PhaseBody, "the stream is not in its content coding %s: %v", strings.Join(d.names, ", "), err)
	}
	return n, err
}

// CloseWrite ends our side of the connection, as a client that will send nothing more. The stream goes on until the
// server ends it.
func (s *Stream) CloseWrite() error { return s.cv.CloseWrite() }

// Reset ends the stream as Close does, but with a reset of the connection, as a client that has crashed.
func (s *Stream) Reset() error {
	s.cv.resetting.Store(true)
	return s.Close()
}

func isEventStream(resp *transcript.Response) bool {
	value, _ := resp.Header.Get("Content-Type")
	mediaType, _, _ := strings.Cut(value, ";")
	return resp.Status/100 == 2 && strings.EqualFold(strings.Trim(mediaType, " \t\r\n"), "text/event-stream")
}
