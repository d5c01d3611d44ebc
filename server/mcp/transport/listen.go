package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// How long to wait before another stream is opened, if the last one has said nothing: a little longer each time. A server
// can ask for more, or less.
const (
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

// Listen passes on the messages of one stream after the other. It returns nil when the context has ended, or the server has
// no stream, and otherwise what is wrong with a message. One that refuses the first stream goes without
// (decision X36).
func (r *HTTP) Listen(ctx context.Context, hear func(message []byte) error) error {
	events := &eventReader{max: r.max}
	pause, opened := firstPause, false
	for ctx.Err() == nil {
		body, err := r.openStream(ctx, events.id)
		if errors.Is(err, errNoStream) || errors.Is(err, errNotNow) && !opened {
			return nil
		}
		if err == nil {
			opened = true
			heard, err := hearAll(events, body, hear)
			if err != nil {
				return err
			}
			if heard {
				pause = firstPause
			}
		}
		wait := pause
		if events.retry > 0 {
			wait = events.retry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		pause = min(pause*3/2, mostPause)
	}
	return nil
}

// hearAll passes on the messages of one stream. Its error is not that of the stream, which may end at any time, unless a
// message is too large.
func hearAll(events *eventReader, body io.ReadCloser, hear func(message []byte) error) (heard bool, err error) {
	defer body.Close()
	events.follow(body)
	for {
		message, err := events.next()
		if errors.Is(err, errLargeEvent) {
			return heard, err
		}
		if err != nil {
			return heard, nil
		}
		heard = true
		if err := hear(message); err != nil {
			return heard, err
		}
	}
}

var (
	errNoStream = errors.New("the server has no stream")
	errNotNow   = errors.New("the server has no stream at the moment")
)

// openStream opens a stream for what the server says of its own accord, after the event with an id. The error is
// [errNoStream] if there is none, [errNotNow] if the server says that there may be one later, and another one if it says
// nothing.
func (r *HTTP) openStream(ctx context.Context, lastID string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.uri.String(), nil)
	if err != nil {
		return nil, errors.Join(errNoStream, err)
	}
	request.Header.Set("Accept", "text/event-stream")
	if id := r.session(); id != "" {
		request.Header.Set(sessionHeader, id)
	}
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := r.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case response.StatusCode == http.StatusOK && isStream(response):
		return response.Body, nil
	case response.StatusCode >= 500, response.StatusCode == http.StatusTooManyRequests:
		err = errNotNow
	default: // 405 as a rule
		err = errNoStream
	}
	response.Body.Close()
	return nil, err
}
