package httpwire

import (
	"context"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
)

// A Stream is an event stream on its connection. It is read and recorded in the background; the Watch says what has
// come and who ended it.
type Stream struct {
	*sse.Watch
	cv *Conversation
}

// Stream sends a request. When the response is an event stream (2xx and text/event-stream) its events are watched, and
// the caller closes the Stream; ctx has no say from the response head on. When it is anything else, the Stream is nil
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
	return ex, &Stream{sse.Open(cv, &watch), cv}, nil
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
