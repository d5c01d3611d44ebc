// Package memnet is a network without ports: a listener and its dialer, joined by pipes in memory.
//
// A server under test serves on it exactly as on TCP, but nothing leaves the process: tests need no free port, run in
// parallel, and work inside a testing/synctest bubble, where a real socket would stop the clock. What pipes cannot do
// is left to tests with sockets: they have no buffers (a write waits for its reader), no half-close and no reset.
package memnet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// A Listener accepts the connections that are dialed on it. The zero value is not usable; call [Listen].
type Listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

var _ net.Listener = (*Listener)(nil)

// Listen returns a listener nobody has dialed yet.
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

// Close makes Accept and Dial fail. Connections that were accepted live on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address that names the network and nothing else.
func (l *Listener) Addr() net.Addr { return addr{} }

// Dial connects to the listener. It returns when the connection was accepted.
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

// Client returns an HTTP client whose requests all go to the listener, whatever host their URL names. It follows no
// redirect and keeps no cookies. Its transport is its own: close its idle connections when the test ends.
func (l *Listener) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
			// Left on, the transport asks for gzip and hides from the test what it got.
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type addr struct{}

func (addr) Network() string { return "mem" }
func (addr) String() string  { return "mem" }
