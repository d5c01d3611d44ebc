package extensions

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// Versions that servers are told (GA 6.7, decision X1).
const (
	protocolVersion = "2025-03-26"
	version         = "1.16.0"
)

// A client is the connection to one MCP server.
type client struct {
	session *mcp.ClientSession
	tap     *tap
	timeout time.Duration
	stop    func() // ends what the connection is to
	maxList int    // bytes of all pages of a list

	endLife context.CancelFunc // of what is open for the connection

	ctx context.Context // ends with the connection, and with it the calls that run
	end context.CancelCauseFunc

	mu      sync.Mutex
	running []*running // in the order in which they began
	ended   bool
	asking  sync.WaitGroup
	places  chan struct{} // for questions of the server
	refusals
}

// A running call is one that may have notifications and questions.
type running struct {
	ctx context.Context
	reply.Call
}

// A transport reaches a server, and can be ended.
type transport interface {
	mcp.Transport
	// agreed is called with the version of the protocol when the server has said it.
	agreed(version string)
	stop()
}

// connect introduces itself to a server. The context is for that alone. If it fails the connection has ended.
func (c *Connector) connect(ctx context.Context, t transport, timeout time.Duration) (*client, error) {
	x := &client{timeout: timeout, stop: t.stop, maxList: maxListed * c.maxMessage(), places: make(chan struct{}, maxQuestions), refusals: refusals{max: c.maxMessage()}}
	x.ctx, x.end = context.WithCancelCause(context.Background())
	x.tap = &tap{heard: x.hear, awaited: map[jsonrpc.ID]*answer{}, agreed: t.agreed, ended: func() { x.end(closed) }}
	library := mcp.NewClient(&mcp.Implementation{Name: "goose", Version: cmp.Or(c.ClientVersion, version)}, &mcp.ClientOptions{
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
	timer := time.AfterFunc(timeout, func() { giveUp(late(timeout)) })
	stopCaller := context.AfterFunc(ctx, func() { giveUp(context.Cause(ctx)) })
	awaiting, a := await(begin)
	x.tap.greeting = a
	var err error
	x.session, err = library.Connect(awaiting, tapped{t, x.tap}, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	inTime, called := timer.Stop(), stopCaller()
	if err == nil && inTime && called {
		return x, nil
	}
	if err == nil { // and yet it is too late
		<-begin.Done()
		x.close()
	}
	x.end(closed)
	x.stop()
	endLife()
	return nil, x.whyNot(begin, x.tap.forget(a))
}

// whyNot returns why a server could not be introduced to.
func (x *client) whyNot(begin context.Context, a answer) error {
	why, ok := errors.AsType[reason](context.Cause(begin))
	switch {
	case ok:
		return why
	case a.err != nil:
		return answeredError(a.err)
	case a.there:
		return noMCP
	}
	return x.tap.lost()
}

// answeredError returns the error that a server has answered with. The library makes answers of its own for requests whose
// stream ends without one.
func answeredError(err error) error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return toldBy(wire)
	}
	return closed
}

// farewell is how long a server may take to answer the last request.
const farewell = time.Second

// close ends the connection, and with it the calls that run.
func (x *client) close() {
	x.mu.Lock()
	x.ended = true
	x.mu.Unlock()
	x.end(closed)
	x.stop()
	timer := time.AfterFunc(farewell, x.endLife)
	_ = x.session.Close()
	timer.Stop()
	x.endLife()
	x.stop()
	x.asking.Wait()
}

func (x *client) instructions(context.Context) string {
	return x.session.InitializeResult().Instructions
}

func (x *client) frontend() []llm.Tool { return nil }

func (x *client) note(context.Context) string { return "" }

// limited returns a context that ends when an answer is late, and with the connection.
func (x *client) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.ctx, func() { cancelCause(closed) })
	ctx, cancel := context.WithTimeoutCause(ctx, x.timeout, late(x.timeout))
	return ctx, func() {
		cancel()
		stop()
		cancelCause(nil)
	}
}

// ask makes one request and returns the result as it came.
func (x *client) ask(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	awaiting, kept := await(ctx)
	_ = request(awaiting) // what the library makes of the answer does not matter
	a := x.tap.forget(kept)
	// What comes when the time is over does not count: it may be what the server makes of a question that ends with it.
	if why := late(x.timeout); context.Cause(ctx) == why {
		return decode.Value{}, why
	}
	if a.err != nil {
		return decode.Value{}, answeredError(a.err)
	}
	if a.there {
		return decode.Parse(a.result)
	}
	if why, ok := errors.AsType[reason](context.Cause(ctx)); ok {
		return decode.Value{}, why
	}
	return decode.Value{}, closed
}

// tools asks for all pages of the list.
func (x *client) tools(ctx context.Context) ([]llm.Tool, error) {
	if x.session.InitializeResult().Capabilities.Tools == nil {
		return nil, nil
	}
	var all []llm.Tool
	cursor, left := "", x.maxList
	for range maxPages {
		page, next, size, err := x.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		if left -= size; left < 0 {
			return nil, unreadableTools
		}
		all = append(all, page...)
		if cursor = next; cursor == "" {
			return all, nil
		}
	}
	return nil, unreadableTools
}

// page asks for one page, and says how many bytes it has.
func (x *client) page(ctx context.Context, cursor string) (tools []llm.Tool, next string, size int, err error) {
	ctx, cancel := x.limited(ctx)
	defer cancel()
	result, err := x.ask(ctx, func(ctx context.Context) error {
		_, err := x.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		return err
	})
	if err != nil {
		return nil, "", 0, err
	}
	o := result.Object("tools", "nextCursor")
	for _, tool := range decode.List(o, "tools", extension.DecodeTool) {
		tools = append(tools, toolOf(tool))
	}
	if more := o.MaybeString("nextCursor"); more != nil {
		next = *more
	}
	if o.Err() != nil {
		return nil, "", 0, unreadableTools
	}
	return tools, next, result.Size(), nil
}

// call runs a tool.
func (x *client) call(ctx context.Context, name string, call reply.Call) message.Result[[]message.ToolContent] {
	ctx, cancel := x.limited(ctx)
	defer cancel()
	r := &running{ctx, call}
	x.begin(r)
	defer x.finish(r)
	result, err := x.ask(ctx, func(ctx context.Context) error {
		_, err := x.session.CallTool(ctx, &mcp.CallToolParams{
			Meta: mcp.Meta{"progressToken": call.RequestID}, Name: name, Arguments: object(call.Arguments),
		})
		return err
	})
	if _, malformed := errors.AsType[*decode.SyntaxError](err); malformed {
		return failed(unreadableAnswer)
	}
	if err != nil {
		return failed(err)
	}
	o := result.Object("content")
	content := decode.MaybeList(o, "content", message.DecodeToolContent)
	if o.Err() != nil {
		return failed(unreadableAnswer)
	}
	return message.Success(append([]message.ToolContent{}, content...))
}
