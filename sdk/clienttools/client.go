package clienttools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	maxMessage     = 16 << 20         // bytes of an event, a message or a response
	requestTimeout = 30 * time.Second // of a request that the server answers at once
	closeTimeout   = 30 * time.Second // more than the closing handshake of a socket needs
)

// Errors with a specified text: some are sent to the server, and all client libraries report the same.
var (
	// ErrMaxReconnects is what a client reports when its attempts to connect are used up. It is then disconnected.
	ErrMaxReconnects error = specified("Max reconnection attempts reached")
	// ErrInvalidRequest goes to OnError for an event with a tool request that lacks its ID or tool.
	ErrInvalidRequest error = specified("Invalid tool request")
	// ErrInvalidMessage goes to OnError for a message of the socket that is not a JSON object with a type, and for
	// a tool request in it that lacks its ID or tool.
	ErrInvalidMessage error = specified("Invalid message")
	// ErrInvalidResult is the error of a call whose handler returned neither a result nor an error.
	ErrInvalidResult error = specified("Invalid tool result")
)

// ErrClosed is the cause of the contexts that Close ends.
var ErrClosed = errors.New("the client was closed")

type specified string

func (s specified) Error() string { return string(s) }

// A Transport is how the server sends calls.
type Transport string

// The transports. The zero value is SSE.
const (
	SSE       Transport = "sse"
	WebSocket Transport = "websocket"
)

// Options change a client. The zero value of each field is its default.
type Options struct {
	ClientID  string        // default: a random UUID
	Transport Transport     // default: SSE
	Timeout   time.Duration // of a call, after which its context ends; default: 30 s
	SecretKey string        // the key of the server, sent as X-Secret-Key; default: none
	Header    http.Header   // further fields of each request

	// HTTPClient sends the requests. Its Timeout does not apply to streams. Close leaves its idle connections open.
	// Default: a client of its own, which follows no redirects, because they could take the key elsewhere.
	HTTPClient *http.Client

	// OnError gets errors that no call of the user's returns: lost results, invalid messages, ErrMaxReconnects.
	OnError func(error)
	// OnReconnect is called before each wait. Attempts are counted from 1. It and OnError may be called by several
	// goroutines at once, and must not call Close.
	OnReconnect func(attempt int, wait time.Duration)
	// Confirm answers when the server asks whether the model may call a tool. Default: Deny.
	Confirm func(context.Context, Confirmation) Decision

	Logger *slog.Logger // default: no log
}

// A Client offers tools to one server. Its methods may be called by several goroutines.
type Client struct {
	base       string
	options    Options
	http       *http.Client
	own        *http.Transport // of http, unless the user gave it
	registered chan struct{}   // full while tools are sent, so that the server gets them in order

	mu    sync.Mutex
	tools []ClientTool // in the order of registration
	link  *link        // nil while the client is disconnected
}

// New returns a client of the server with this URL. It sends nothing yet.
func New(baseURL string, options *Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("server URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("server URL %q: want http://host:port or https://host:port", baseURL)
	}
	c := &Client{base: strings.TrimRight(u.String(), "/"), registered: make(chan struct{}, 1)}
	if options != nil {
		c.options = *options
	}
	o := &c.options
	o.ClientID = cmp.Or(o.ClientID, uuid.NewString())
	o.Transport = cmp.Or(o.Transport, SSE)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Header = o.Header.Clone()
	if o.Transport != SSE && o.Transport != WebSocket {
		return nil, fmt.Errorf("transport %q: want %q or %q", o.Transport, SSE, WebSocket)
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("timeout %s: want more than 0", o.Timeout)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.HTTPClient != nil {
		client := *o.HTTPClient
		client.Timeout = 0 // it would end streams; requests have requestTimeout
		c.http = &client
		return c, nil
	}
	c.own = http.DefaultTransport.(*http.Transport).Clone()
	c.http = &http.Client{
		Transport:     c.own,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// ID returns the client's ID. The server's name of a tool is "client_", this ID, "_", and the tool's ID.
func (c *Client) ID() string { return c.options.ClientID }

// Register adds tools, or replaces those with the same ID. While the client is connected, the server gets all tools at
// once; otherwise it gets them from Connect. If the server rejects them, the error is a StatusError, and the client
// keeps the tools.
func (c *Client) Register(ctx context.Context, tools ...ClientTool) error {
	for _, t := range tools {
		if err := t.check(); err != nil {
			return fmt.Errorf("tool %q: %w", t.ID, err)
		}
	}
	c.mu.Lock()
	for _, t := range tools {
		if t.Parameters == nil {
			t.Parameters = []byte(`{"type":"object"}`)
		}
		if i := slices.IndexFunc(c.tools, t.same); i >= 0 {
			c.tools[i] = t
		} else {
			c.tools = append(c.tools, t)
		}
	}
	c.mu.Unlock()
	return c.sendIfConnected(ctx, c.sendTools)
}

// Unregister removes a tool. Calls that run continue. While the client is connected, the server is told.
func (c *Client) Unregister(ctx context.Context, id string) error {
	c.mu.Lock()
	c.tools = slices.DeleteFunc(c.tools, ClientTool{Definition: Definition{ID: id}}.same)
	c.mu.Unlock()
	return c.sendIfConnected(ctx, func(ctx context.Context) error {
		return c.exchange(ctx, http.MethodDelete, "/client-tools/unregister", struct {
			ClientID string   `json:"clientID"`
			ToolIDs  []string `json:"toolIDs"`
		}{c.ID(), []string{c.prefix() + id}}, nil) // the full ID: a short one may begin with client_ (CT 4.2)
	})
}

// sendIfConnected sends a change. While a connection begins, it waits for the registration, which may lack the change.
func (c *Client) sendIfConnected(ctx context.Context, send func(context.Context) error) error {
	unlock, err := c.lockRegistration(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c.mu.Lock()
	connected := c.link != nil && c.link.connected
	c.mu.Unlock()
	if !connected {
		return nil
	}
	return send(ctx)
}

func (c *Client) lockRegistration(ctx context.Context) (unlock func(), err error) {
	select {
	case c.registered <- struct{}{}:
		return func() { <-c.registered }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// sendTools registers all tools. The caller holds the lock of registration.
func (c *Client) sendTools(ctx context.Context) error {
	return c.exchange(ctx, http.MethodPost, "/client-tools/register", struct {
		ClientID string       `json:"clientID"`
		Tools    []Definition `json:"tools"`
	}{c.ID(), c.definitions()}, nil)
}

func (c *Client) definitions() []Definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Definition{} // not null
	for _, t := range c.tools {
		all = append(all, t.Definition)
	}
	return all
}

func (c *Client) tool(id string) (ClientTool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.tools, ClientTool{Definition: Definition{ID: id}}.same)
	if i < 0 {
		return ClientTool{}, false
	}
	return c.tools[i], true
}

func (c *Client) prefix() string { return "client_" + c.ID() + "_" }

// Connect registers the tools and opens the stream of calls. It returns when the server has answered the registration
// and the stream is requested. It makes up to six attempts, and then returns ErrMaxReconnects; a registration that is
// rejected is a StatusError at once. The connection lasts until Close, not until the end of ctx.
//
// Connect waits with another Connect that is in progress. It does nothing while the client is connected.
func (c *Client) Connect(ctx context.Context) error {
	for {
		l, begun := c.start()
		if l.ctx.Err() != nil { // it ends: its calls may still run
			if err := wait(ctx, l.done); err != nil {
				return err
			}
			continue
		}
		select {
		case <-l.up:
			return nil
		case <-l.done:
			return l.err
		case <-ctx.Done():
			if begun {
				l.stop(context.Cause(ctx))
			}
			return context.Cause(ctx)
		}
	}
}

// start returns the connection, and whether it has begun it.
func (c *Client) start() (l *link, begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		c.link, begun = newLink(c), true
	}
	return c.link, begun
}

// Close ends the connection, cancels the calls that run, and waits for them. Their results are not sent. The server
// removes the tools. Connect begins again. The error names what still runs after 30 s, because it ignores its context.
func (c *Client) Close() error {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l != nil {
		l.stop(ErrClosed)
		ctx, cancel := context.WithTimeoutCause(context.Background(), closeTimeout, errors.New("tool calls still run"))
		defer cancel()
		if err := wait(ctx, l.done); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
