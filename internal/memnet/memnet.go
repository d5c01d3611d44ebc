// Package memnet is a network in memory: a listener and a dialer that are connected by pipes.
//
// Servers in tests use it like TCP. Tests need no free port, can run in parallel, and work inside a testing/synctest
// bubble, in which a real socket would stop the clock. A pipe has no buffer (a write waits for its reader), no
// half-close and no reset, so some tests still need sockets.
package memnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// A Listener accepts the connections that are dialed on it. The zero value is not usable; call [Listen].
type Listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

var _ net.Listener = (*Listener)(nil)

// Listen returns a new listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next dial. After Close it returns an error that is [net.ErrClosed].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, fmt.Errorf("accept %s: %w", l.Addr(), net.ErrClosed)
	}
}

// Close makes Accept and Dial fail. Accepted connections stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address that only names the network.
func (l *Listener) Addr() net.Addr { return addr{} }

// Dial connects to the listener. It returns when the connection is accepted.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	var err error
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	ours.Close()
	theirs.Close()
	return nil, fmt.Errorf("dial %s: %w", l.Addr(), err)
}

// Connect dials, and fails the test if that does not succeed.
func (l *Listener) Connect(t testing.TB) net.Conn {
	t.Helper()
	conn, err := l.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Serve runs a server on a listener until the test ends.
func Serve(t testing.TB, srv *http.Server, ln net.Listener) {
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v, want ErrServerClosed", err)
		}
	})
}

// Client returns an HTTP client that sends all requests to the listener, whatever host their URL names. It does not
// follow redirects or keep cookies. It has a transport of its own: close its idle connections when the test ends.
func (l *Listener) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
			// Otherwise the transport requests gzip and decodes it, so that the test does not see the real body.
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type addr struct{}

func (addr) Network() string { return "mem" }
func (addr) String() string  { return "mem" }
