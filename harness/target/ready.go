package target

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = 100 * time.Millisecond
	// maxAnswer is how much of an answer is read: the status line is wanted, the rest is politeness.
	maxAnswer = 64 << 10
)

// bound returns the context in which the target has to get ready.
func (r Ready) bound(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, deadline, fmt.Errorf("not ready within %s", r.Within))
}

// await probes the server at base until it answers as it should and check agrees. When ctx ends first, the error says why it ended and
// what the last probe got.
func (r Ready) await(ctx context.Context, base *url.URL, check func() error) error {
	u, err := r.target(base)
	if err != nil {
		return err
	}
	var last error
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		err := r.probe(ctx, u)
		if err == nil {
			err = check()
		}
		if err == nil {
			return nil
		}
		switch {
		case ctx.Err() == nil:
			last = err
		case last == nil: // this probe was cut short, and there was none before
			last = errors.New("no answer yet")
		}
		if !pause(ctx, wait) {
			return fmt.Errorf("%w: GET %s: %w", context.Cause(ctx), u, last)
		}
	}
}

// target returns the URL to probe.
func (r Ready) target(base *url.URL) (*url.URL, error) {
	path, err := url.ParseRequestURI(r.Path)
	if err != nil {
		return nil, err // Validate has parsed it before
	}
	u := base.JoinPath(path.EscapedPath())
	u.RawQuery = path.RawQuery
	return u, nil
}

// probe asks once. Its connection is its own and is closed afterwards, so that the first connection a server sees from
// a scenario is the scenario's; it is written by hand rather than with net/http's Transport, whose goroutines end some
// time after the request.
func (r Ready) probe(ctx context.Context, u *url.URL) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Probe, fmt.Errorf("no answer within %s", r.Probe))
	defer cancel()
	status, err := ask(ctx, u)
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		<-ctx.Done() // the network's clock has run out a moment before ours, which is what is to be told
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return context.Cause(ctx)
	case err != nil:
		return plain(err)
	case status == r.Status, r.Status == 0 && status >= 200 && status <= 299:
		return nil
	default:
		return errors.New(strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status))))
	}
}

// ask sends a GET request for u and returns the status of the answer.
func ask(ctx context.Context, u *url.URL) (status int, err error) {
	conn, err := dial(ctx, u)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ended := make(chan struct{})
	cut := context.AfterFunc(ctx, func() {
		defer close(ended)
		conn.SetDeadline(time.Unix(1, 0)) // wakes whoever reads or writes
	})
	defer func() {
		if !cut() {
			<-ended
		}
	}()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, err
	}
	req.Close = true
	req.Header.Set("User-Agent", "lockstep")
	if err := req.Write(conn); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxAnswer)), req)
	if err != nil {
		return 0, err
	}
	// The body does not matter. Closing on a server that is still writing resets the connection, and that may be a
	// line in its log.
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return res.StatusCode, nil
}

// dial connects to the host of u.
func dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "https" {
		return (&tls.Dialer{}).DialContext(ctx, "tcp", address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// plain turns what the network says into what a person wants to know.
func plain(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno // "connection refused", without the addresses that the message has already
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection was closed before an answer")
	}
	const most = 200 // a malformed answer is quoted in full
	if text := err.Error(); len(text) > most {
		return fmt.Errorf("%.*s…", most, text)
	}
	return err
}

// pause waits for d and reports whether it could, or whether ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
