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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

const (
	firstPoll   = 5 * time.Millisecond
	lastPoll    = 100 * time.Millisecond
	maxResponse = 64 << 10 // limit of bytes to read; only the status matters
)

// bound returns the context within which the target must become ready.
func (r Ready) bound(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, deadline, errors.New("not ready within "+r.Within.String()+r.place()))
}

// place says where the file of a project describes the readiness.
func (r Ready) place() string {
	if r.Place == "" {
		return ""
	}
	return " (" + r.Place + ")"
}

// await probes the server at base until it responds as it should and check returns nil. If ctx ends first, the error
// has its cause and the result of the last probe.
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
		case last == nil: // this was the first probe, and it was cut short
			last = errors.New("no answer yet")
		}
		if !waiting.Sleep(ctx, wait) {
			return fmt.Errorf("%w: GET %s: %w", context.Cause(ctx), u, last)
		}
	}
}

// target returns the URL to probe.
func (r Ready) target(base *url.URL) (*url.URL, error) {
	path, err := url.ParseRequestURI(r.Path)
	if err != nil {
		return nil, err // Validate has parsed it already
	}
	u := base.JoinPath(path.EscapedPath())
	u.RawQuery = path.RawQuery
	return u, nil
}

// probe sends one request. It uses its own connection and closes it, so that scenarios begin with new connections. It
// does not use the Transport of net/http, whose goroutines end some time after the request.
func (r Ready) probe(ctx context.Context, u *url.URL) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Probe, fmt.Errorf("no answer within %s: name a path under ready that answers sooner, or correct the server", r.Probe))
	defer cancel()
	status, err := getStatus(ctx, u)
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		<-ctx.Done() // the connection's deadline was a moment earlier, but the context's error is the one to report
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return context.Cause(ctx)
	case err != nil:
		return shortError(err)
	case status == r.Status, r.Status == 0 && status >= 200 && status <= 299:
		return nil
	default:
		return fmt.Errorf("%s; %s is wanted: correct ready, or the server", strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status))), r.wanted())
	}
}

func (r Ready) wanted() string {
	if r.Status == 0 {
		return "200 to 299"
	}
	return strconv.Itoa(r.Status)
}

// getStatus sends a GET request for u and returns the status of the response.
func getStatus(ctx context.Context, u *url.URL) (status int, err error) {
	conn, err := dial(ctx, u)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ended := make(chan struct{})
	cut := context.AfterFunc(ctx, func() {
		defer close(ended)
		conn.SetDeadline(time.Unix(1, 0)) // ends pending reads and writes
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
	res, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxResponse)), req)
	if err != nil {
		return 0, err
	}
	// Read the body, because closing the connection while the server writes would reset it, and servers may log that.
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

// shortError shortens a network error for people.
func shortError(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno // "connection refused"; the message has the addresses already
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection was closed before an answer")
	}
	const maxText = 200 // the error quotes a malformed response in full
	if text := err.Error(); len(text) > maxText {
		return fmt.Errorf("%.*s…", maxText, text)
	}
	return err
}
