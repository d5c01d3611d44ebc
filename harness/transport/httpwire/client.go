// Package httpwire does one HTTP/1.1 exchange at a time and records exactly what crossed the wire.
//
// It replaces the client of net/http, which is made for applications. That client sorts and renames header fields,
// decodes bodies, follows redirects, and cannot half-close or reset a connection. This one sends the request as it is
// given, and records the response as it was received. What the server does wrong is data, a transcript.Failure in the
// Exchange, and not an error. An error means that HTTP/1.1 cannot carry the request, or that the caller made a mistake.
//
// Where RFC 9112 lets a recipient either reject or repair a message, the code names the choice and the section. The
// rule: a message that all clients read in the same way is accepted, and any other is malformed.
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

// Options say how a Client connects, and how much it reads.
type Options struct {
	// Dial opens a connection; nil means a net.Dialer. A connection that is not a syscall.Conn is used for only one
	// exchange, because the client cannot see whether the server has closed it in the meantime.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS is used when the base URL has the scheme https. Nil means the zero Config. ServerName and NextProtos are
	// filled in.
	TLS *tls.Config
	// MaxHead is the maximum size of a head, and of a trailer section; 0 means 1 MiB.
	MaxHead int
	// MaxBody is the maximum size of a body that Do reads; 0 means 64 MiB. The beginning of a larger body is kept.
	// Event streams are not limited.
	MaxBody int64
	// Idle is how long a connection may wait for its next exchange. 0 means 1 second. A negative value means that each
	// exchange has its own connection. Servers close idle connections after some seconds, and a request at that moment
	// fails, although the server is right.
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

// A Client talks to one server. Its methods may be called concurrently. Each exchange has a connection of its own.
type Client struct {
	base   *url.URL
	prefix string // is put before a request's target
	opts   Options
	tls    *tls.Config // nil for http
	pool   pool
}

// NewClient returns a client for the server at base: a scheme (http or https), a host, and optionally a path, which is
// put before every target. Nil options mean the zero options.
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

// Close closes the idle connections. Running exchanges continue, and their connections are closed when they end.
// A nil Client has none.
func (c *Client) Close() {
	if c != nil {
		c.pool.close()
	}
}

// Do sends a request and reads the whole response. Offsets count from start. When ctx ends, the exchange ends too, in
// any phase.
//
// The error is for requests that cannot be sent. Then there is no Exchange.
func (c *Client) Do(ctx context.Context, start time.Time, req *Request) (*transcript.Exchange, error) {
	ex, cv, err := c.begin(ctx, start, req)
	if cv != nil {
		c.readRest(ctx, start, ex, cv)
	}
	return ex, err
}
