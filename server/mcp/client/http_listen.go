package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// These are the pauses before a new stream is opened if the last one had no messages. They grow each time. A server
// can ask for other pauses.
const (
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

// Listen passes on the messages of one stream after another. It returns nil when the context ends, or if the server
// has no stream. Otherwise it returns what is wrong with a message. If the server refuses the first stream, there is
// no listening (decision X36).
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

// hearAll passes on the messages of one stream. It returns no error of the stream, which may end at any time, except
// for a message that is too large.
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

// openStream opens a stream for the server's own messages, starting after the event with the given ID. The error is
// [errNoStream] if the server has none, [errNotNow] if it may have one later, and any other if it does not answer.
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
	default: // usually 405
		err = errNoStream
	}
	response.Body.Close()
	return nil, err
}
