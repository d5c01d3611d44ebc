package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// NewTransport returns the transport for all calls of models. It keeps connections for the next turn.
func NewTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        1000,
		MaxIdleConnsPerHost: 500, // one provider serves all sessions
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // so that a small answer cannot expand to a huge one
		WriteBufferSize:     4 << 10,
		ReadBufferSize:      4 << 10,
	}
}

// An endpoint says where and how a provider's requests are sent.
type endpoint struct {
	url     string
	header  http.Header
	timeout time.Duration
}

// pauses are the waits before the second, third and fourth try (GA 18.9). Each varies by up to a fifth.
var pauses = [...]time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second}

// A caller sends requests, and retries if that may help.
type caller struct {
	transport   http.RoundTripper
	skipBackoff func() bool
	complaints  int64 // how many bytes are read of the body of a failure
}

// send sends a request, and returns the body of a successful answer, which the caller must close. Its errors are
// [*Error]. The time limit is for each try, including its whole answer (decision M46).
func (c caller) send(ctx context.Context, to endpoint, body []byte) (answer *answerBody, err error) {
	err = c.retry(ctx, to, func() (err error) {
		answer, err = c.once(ctx, to, body)
		return err
	})
	return answer, err
}

// retry tries to call an endpoint until that succeeds, or fails in a way that another try does not change (decision
// M47).
func (c caller) retry(ctx context.Context, to endpoint, call func() error) error {
	for try := 0; ; try++ {
		err := call()
		if err == nil {
			return nil
		}
		failed, ok := errors.AsType[*Error](err)
		if !ok || !failed.transient() || try == len(pauses) {
			return err
		}
		if err := c.pause(ctx, pauses[try]); err != nil {
			return noAnswer(ctx, to.timeout, err)
		}
	}
}

// whole sends a request once, and returns the whole body of a successful answer. Its errors are [*Error].
func (c caller) whole(ctx context.Context, to endpoint, body []byte, limit int64) ([]byte, error) {
	answer, err := c.once(ctx, to, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	all, err := readAll(answer, limit)
	if err != nil && answer.ctx.Err() != nil {
		return nil, noAnswer(answer.ctx, to.timeout, err)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return all, nil
}

// An answerBody is the body of an answer with a time limit.
type answerBody struct {
	io.ReadCloser
	ctx    context.Context // of the try; it ends when the time is over
	cancel context.CancelFunc
}

// Close ends the try.
func (b *answerBody) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

// once sends a body by POST, or no body by GET.
func (c caller) once(ctx context.Context, to endpoint, body []byte) (_ *answerBody, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, to.timeout, errTimeout)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	method, content := http.MethodPost, io.Reader(bytes.NewReader(body))
	if body == nil {
		// Of this kind, the transport does not send it again on its own when a connection breaks (decision M47).
		method, content = http.MethodGet, io.NopCloser(http.NoBody)
	}
	request, err := http.NewRequestWithContext(ctx, method, to.url, content)
	if err != nil {
		return nil, &Error{Message: "Invalid base URL: " + to.url, cause: err}
	}
	request.Header = to.header.Clone()
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.transport.RoundTrip(request) // a client's Do would follow redirects
	if err != nil {
		return nil, noAnswer(ctx, to.timeout, err)
	}
	if answer.StatusCode/100 == 2 {
		return &answerBody{answer.Body, ctx, cancel}, nil
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, c.complaints))
	if err != nil {
		return nil, noAnswer(ctx, to.timeout, err)
	}
	return nil, statusError(answer.StatusCode, said)
}

// pause waits before the next try. Its error is the cause of the context's end.
func (c caller) pause(ctx context.Context, about time.Duration) error {
	if c.skipBackoff() {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(time.Duration((0.8 + 0.4*rand.Float64()) * float64(about)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
