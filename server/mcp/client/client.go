// Package client is the connection to one MCP server: it introduces itself, asks for tools and resources, and passes on what
// the server says while tools run (GA 6.7, decisions X1 to X12).
//
// The library behind it speaks the protocol. It reads messages into types of its own, though, which lose the order of members
// and the digits of numbers; [rawMessages] keeps messages as they came.
package client

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// Versions that servers are told (GA 6.7, decision X1).
const (
	protocolVersion = "2025-03-26"
	version         = "1.16.0"
)

// What is bounded (decision X12).
const (
	maxPages     = 100
	maxListed    = 4  // times the largest message: all pages of a list
	maxQuestions = 16 // of one connection at a time
)

// Farewell is how long a server may take to answer the last request.
const Farewell = time.Second

// A Client is the connection to one MCP server. Its methods may be called by several goroutines.
type Client struct {
	// Timeout is how long a request may take.
	Timeout time.Duration
	// MaxList is how many bytes all pages of a list may have together.
	MaxList int

	session  *mcp.ClientSession
	messages *rawMessages
	stop     func() // ends what the connection is to

	endLife context.CancelFunc // of what is open for the connection

	ctx context.Context // ends with the connection, and with it the calls that run
	end context.CancelCauseFunc

	running   runningCalls
	questions questions
}

// A Transport reaches a server, and can be ended.
type Transport interface {
	mcp.Transport
	// Agreed is called with the version of the protocol when the server has said it.
	Agreed(version string)
	Stop()
}

// Options say how a client talks to its server.
type Options struct {
	Version    string        // what the client says in initialize; that of goose if empty
	Timeout    time.Duration // of a request
	MaxMessage int           // bytes of a message (decision X12)
}

// Connect introduces itself to a server. The context is for that alone. If it fails the connection has ended.
func Connect(ctx context.Context, t Transport, o Options) (*Client, error) {
	x := &Client{Timeout: o.Timeout, MaxList: maxListed * o.MaxMessage, stop: t.Stop}
	x.ctx, x.end = context.WithCancelCause(context.Background())
	x.messages = &rawMessages{fromServer: x.take, awaited: map[jsonrpc.ID]*answer{}, agreed: t.Agreed, ended: func() { x.end(mcperror.Closed) }}
	x.questions = questions{ctx: x.ctx, write: x.write, places: make(chan struct{}, maxQuestions), maxRefused: o.MaxMessage}
	library := mcp.NewClient(&mcp.Implementation{Name: "goose", Version: cmp.Or(o.Version, version)}, &mcp.ClientOptions{
		//lint:ignore SA1019 GA 6.7 has it announced, and the version that is asked for knows it
		Capabilities:   &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}, Elicitation: &mcp.ElicitationCapabilities{}},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	library.AddReceivingMiddleware(unannounced)

	// The context of the connection's beginning is that of the whole connection, for some transports. So its end is only
	// brought about while the server has not answered.
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
	if err == nil { // and yet it is too late
		<-begin.Done()
		x.Close()
	}
	x.end(mcperror.Closed)
	x.stop()
	endLife()
	return nil, x.whyNot(begin, x.messages.forget(a))
}

// whyNot returns why a server could not be introduced to.
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

// answeredError returns the error that a server has answered with. The library makes answers of its own for requests whose
// stream ends without one.
func answeredError(err error) error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return mcperror.FromServer(wire)
	}
	return mcperror.Closed
}

// write writes an answer of ours.
func (x *Client) write(ctx context.Context, m jsonrpc.Message) error {
	return x.messages.Connection.Write(ctx, m)
}

// Close ends the connection, and with it the calls that run.
func (x *Client) Close() {
	x.questions.close()
	x.end(mcperror.Closed)
	x.stop()
	timer := time.AfterFunc(Farewell, x.endLife)
	_ = x.session.Close()
	timer.Stop()
	x.endLife()
	x.stop()
	x.questions.wait()
}

// OnLost calls a function when the connection ends by itself, and not by Close.
func (x *Client) OnLost(lost func()) {
	context.AfterFunc(x.ctx, func() {
		if !x.questions.isClosed() {
			lost()
		}
	})
}

// Instructions are those of the server for the model.
func (x *Client) Instructions(context.Context) string {
	return x.session.InitializeResult().Instructions
}

// limited returns a context that ends when an answer is late, and with the connection.
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

// askInTime makes one request that must be answered in time.
func (x *Client) askInTime(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	ctx, cancel := x.limited(ctx)
	defer cancel()
	return x.ask(ctx, request)
}

// ask makes one request and returns the result as it came.
func (x *Client) ask(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	awaiting, kept := await(ctx)
	_ = request(awaiting) // what the library makes of the answer does not matter
	a := x.messages.forget(kept)
	// What comes when the time is over does not count: it may be what the server makes of a question that ends with it.
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
	return decode.Value{}, mcperror.Closed
}
