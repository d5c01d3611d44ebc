// Package httpwire does one HTTP/1.1 exchange at a time and records exactly what crossed the wire.
//
// It replaces the client of net/http, which is made for applications: that one sorts and renames header fields, decodes
// bodies, follows redirects, and can neither half-close nor reset a connection. Here the request is written as it is given,
// and the response is recorded as it came. Whatever the server does wrong is data, a transcript.Failure in the Exchange,
// and not an error. An error means that HTTP/1.1 cannot carry the request, or that the caller made a mistake.
//
// Where RFC 9112 lets a recipient either reject or repair a message, the code names the choice and the section. The rule: a
// message that all clients read in the same way is read, and any other is malformed.
package httpwire

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Options are how a Client connects, and how much it reads at most.
type Options struct {
	// Dial makes a connection; nil means a net.Dialer. A connection that is not a syscall.Conn is used for one exchange
	// only, because it does not tell whether the server has closed it in the meantime.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS is used when the base URL says https. Nil means the zero Config. ServerName and NextProtos are filled in.
	TLS *tls.Config
	// MaxHead is the size of the largest head, and of the largest trailer section; 0 means 1 MiB.
	MaxHead int
	// MaxBody is the size of the largest body that Do reads; 0 means 64 MiB. Of a larger one the beginning is kept. Event
	// streams have no such bound.
	MaxBody int64
	// Idle is how long a connection may wait for its next exchange; 0 means 1 second, and less than 0 that each exchange
	// has its own. Servers close idle connections after some seconds, and a request that is sent at that moment fails,
	// although the server is right.
	Idle time.Duration
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Dial == nil {
		out.Dial = (&net.Dialer{KeepAlive: -1}).DialContext
	}
	if out.MaxHead <= 0 {
		out.MaxHead = 1 << 20
	}
	if out.MaxBody <= 0 {
		out.MaxBody = 64 << 20
	}
	if out.Idle == 0 {
		out.Idle = time.Second
	}
	return out
}

// A Client talks to one server. Its methods may be called at the same time; each exchange has a connection to itself.
type Client struct {
	base   *url.URL
	prefix string // goes before a request's target
	opts   Options
	tls    *tls.Config // nil for http
	pool   pool
}

// NewClient returns a client of the server at base: a scheme (http or https), a host, and perhaps a path, which goes
// before every target. Nil options are the zero options.
func NewClient(base *url.URL, opts *Options) *Client {
	c := &Client{base: base, prefix: strings.TrimSuffix(base.EscapedPath(), "/"), opts: opts.withDefaults()}
	c.pool.maxAge = c.opts.Idle
	if base.Scheme == "https" {
		c.tls = c.opts.TLS.Clone()
		if c.tls == nil {
			c.tls = &tls.Config{}
		}
		if c.tls.ServerName == "" {
			c.tls.ServerName = base.Hostname()
		}
		c.tls.NextProtos = []string{"http/1.1"}
	}
	return c
}

// Close closes the connections that wait for their next exchange. Exchanges that are under way go on, and their
// connections are closed when they end.
func (c *Client) Close() { c.pool.close() }

// Do sends a request and reads the whole response. Offsets count from start. When ctx ends, so does the exchange, in
// whatever phase it is.
//
// The error is for requests that cannot be sent; then there is no Exchange.
func (c *Client) Do(ctx context.Context, start time.Time, req *Request) (*transcript.Exchange, error) {
	ex, cv, err := c.begin(ctx, start, req)
	if cv != nil {
		c.readRest(ctx, start, ex, cv)
	}
	return ex, err
}
