package extensions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// How long to wait before another stream is opened, if the last one has said nothing: a little longer each time. A server
// can ask for more, or less.
const (
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

// listen hears what a server says outside of its answers, until the connection ends. MCP has a stream for that, which a
// client may open and a server need not have (2025-03-26, Streamable HTTP, Listening for Messages from the Server).
//
// The library has one, too, but only for connections of its own: not if there is a tap, and what comes must pass the tap.
// It would also keep the connection from beginning for as long as the stream's head takes to come.
func (x *client) listen(r *remote) {
	x.asking.Go(func() {
		if err := r.listen(x.ctx, x.hearApart); err != nil { // what is said is no MCP: as anywhere else, that is the end
			x.end(closed)
			_ = x.tap.Connection.Close()
		}
	})
}

// hearApart takes a message that is no part of an answer.
func (x *client) hearApart(text []byte) error {
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return err
	}
	request, ok := m.(*jsonrpc.Request)
	if !ok {
		return nil // nothing was asked there
	}
	if taken, err := x.hear(request); taken || err != nil || !request.IsCall() {
		return err
	}
	return x.answer(request, answerApart(request.Method))
}

// listen passes on the messages of one stream after the other. It returns nil when the context has ended, or the server has
// no stream, and otherwise what is wrong with a message. One that refuses the first stream goes without
// (decision X36).
func (r *remote) listen(ctx context.Context, hear func(message []byte) error) error {
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
func (r *remote) openStream(ctx context.Context, lastID string) (io.ReadCloser, error) {
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
