// Package client is the client of one MCP server: it performs the handshake, requests tools and resources, and passes
// on what the server sends while tools run (GA 6.7, decisions X1 to X12). It connects over the standard input and output
// of a process, or over HTTP.
//
// An MCP library handles the protocol. But it decodes messages into its own types, which lose the order of members
// and the digits of numbers. [rawMessages] keeps the messages as they arrived.
package client

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// These versions are sent to servers (GA 6.7, decision X1).
const (
	protocolVersion = "2025-03-26"
	version         = "1.16.0"
)

// These bounds limit a server (decision X12).
const (
	maxPages     = 100
	maxListed    = 4  // all pages of a list together, in multiples of the largest message
	maxQuestions = 16 // at the same time on one connection
)

// farewell is how long a server may take to answer the last request.
const farewell = time.Second

// A Client is the connection to one MCP server. Its methods are safe for concurrent use.
type Client struct {
	// Timeout is the time limit of a request.
	Timeout time.Duration
	// MaxList is the maximum size of all pages of a list together, in bytes.
	MaxList int

	session  *mcp.ClientSession
	messages *rawMessages
	stop     func() // stops the transport

	endLife context.CancelFunc // ends the context of the library's session

	ctx context.Context // ends with the connection; running calls end with it
	end context.CancelCauseFunc

	running   runningCalls
	questions questions
}

// A Transport connects to a server, and can be stopped.
type Transport interface {
	mcp.Transport
	// Agreed is called with the protocol version when the server has sent it.
	Agreed(version string)
	Stop()
}

// Options configure a client.
type Options struct {
	Version    string        // the client's version in initialize; that of goose if empty
	Timeout    time.Duration // of a request
	MaxMessage int           // of a message, in bytes (decision X12)
}

// Connect performs the handshake with a server. The context only limits the handshake. After an error the connection
// has ended.
func Connect(ctx context.Context, t Transport, o Options) (*Client, error) {
	x := &Client{Timeout: o.Timeout, MaxList: maxListed * o.MaxMessage, stop: t.Stop}
	x.ctx, x.end = context.WithCancelCause(context.Background())
	x.messages = &rawMessages{fromServer: x.take, awaited: map[jsonrpc.ID]*answer{}, agreed: t.Agreed, ended: func() { x.end(mcperror.Closed) }}
	x.questions = questions{ctx: x.ctx, write: x.write, places: make(chan struct{}, maxQuestions), maxRefused: o.MaxMessage}
	library := mcp.NewClient(&mcp.Implementation{Name: "goose", Version: cmp.Or(o.Version, version)}, &mcp.ClientOptions{
		//lint:ignore SA1019 GA 6.7 requires it, and the requested protocol version has it
		Capabilities:   &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}, Elicitation: &mcp.ElicitationCapabilities{}},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	library.AddReceivingMiddleware(unannounced)

	// For some transports, the context of Connect is that of the whole connection. So it is only cancelled while the
	// server has not answered.
	life, endLife := context.WithCancel(context.Background())
	x.endLife = endLife
	begin, giveUp := context.WithCancelCause(life)
	timer := time.AfterFunc(o.Timeout, func() { giveUp(mcperror.Late(o.Timeout)) })
	stopCaller := context.AfterFunc(ctx, func() { giveUp(context.Cause(ctx)) })
	awaiting, a := await(begin)
	x.messages.greeting = a
	var err error
	x.session, err = library.Connect(awaiting, recorded{t, x.messages}, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	inTime, called := timer.Stop(), stopCaller()
	if err == nil && inTime && called {
		return x, nil
	}
	if err == nil { // the answer came too late
		<-begin.Done()
		x.Close()
	}
	x.end(mcperror.Closed)
	x.stop()
	endLife()
	return nil, x.whyNot(begin, x.messages.forget(a))
}

// whyNot returns why the handshake failed.
func (x *Client) whyNot(begin context.Context, a answer) error {
	why, ok := errors.AsType[mcperror.Reason](context.Cause(begin))
	switch {
	case ok:
		return why
	case a.err != nil:
		return answeredError(a.err)
	case a.there:
		return mcperror.NotMCP
	}
	return x.messages.lost()
}

// answeredError returns the error of an error answer. The library itself creates such answers for requests whose
// stream ends without one.
func answeredError(err error) error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return mcperror.FromServer(wire)
	}
	return mcperror.Closed
}

// write writes an answer to the server.
func (x *Client) write(ctx context.Context, m jsonrpc.Message) error {
	return x.messages.Connection.Write(ctx, m)
}

// Close closes the connection, and cancels running calls.
func (x *Client) Close() {
	x.questions.close()
	x.end(mcperror.Closed)
	x.stop()
	timer := time.AfterFunc(farewell, x.endLife)
	_ = x.session.Close()
	timer.Stop()
	x.endLife()
	x.stop()
	x.questions.wait()
}

// OnLost registers a function that is called if the connection ends by itself, not through Close.
func (x *Client) OnLost(lost func()) {
	context.AfterFunc(x.ctx, func() {
		if !x.questions.isClosed() {
			lost()
		}
	})
}

// Instructions returns the server's instructions for the model.
func (x *Client) Instructions(context.Context) string {
	return x.session.InitializeResult().Instructions
}

// limited returns a context that ends at the time limit of a request, or with the connection.
func (x *Client) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.ctx, func() { cancelCause(mcperror.Closed) })
	ctx, cancel := context.WithTimeoutCause(ctx, x.Timeout, mcperror.Late(x.Timeout))
	return ctx, func() {
		cancel()
		stop()
		cancelCause(nil)
	}
}

// askInTime makes one request with a time limit.
func (x *Client) askInTime(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	ctx, cancel := x.limited(ctx)
	defer cancel()
	return x.ask(ctx, request)
}

// ask makes one request, and returns the result as it arrived.
func (x *Client) ask(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	var signedOut atomic.Bool
	awaiting, kept := await(context.WithValue(ctx, signedOutKey{}, &signedOut))
	_ = request(awaiting) // the library's version of the answer is not used
	a := x.messages.forget(kept)
	// An answer after the timeout is ignored: the server may only have sent it because its own question had ended.
	if why := mcperror.Late(x.Timeout); context.Cause(ctx) == why {
		return decode.Value{}, why
	}
	if a.err != nil {
		return decode.Value{}, answeredError(a.err)
	}
	if a.there {
		return decode.Parse(a.result)
	}
	if why, ok := errors.AsType[mcperror.Reason](context.Cause(ctx)); ok {
		return decode.Value{}, why
	}
	if signedOut.Load() {
		return decode.Value{}, mcperror.NotSignedIn
	}
	return decode.Value{}, mcperror.Closed
}
