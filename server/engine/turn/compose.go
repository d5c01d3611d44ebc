package turn

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// errUnasked is the error of a question outside of a reply (decision S81).
const errUnasked = Failure("The user cannot be asked about this call")

// Compose calls a tool of the server for a client that runs a tool of the session outside of a reply (CT 14.3).
func (s *Service) Compose(ctx context.Context, sessionID string, call toolbox.ServerCall) message.ToolResult {
	a, release := s.Use(sessionID)
	defer release()
	ctx, cancel := a.memory.bounded(ctx)
	defer cancel(nil)
	ctx = s.Telemetry.Outside(ctx, sessionID)
	initial, err := s.Store.Session(ctx, sessionID)
	if err != nil {
		return message.FailedResult(clientMessage(notRead(err)))
	}
	c := calls{service: s, agent: a, session: &storedSession{initial: initial}, output: a.finalOutput(), collected: new(atomic.Pointer[string])}
	return c.compose(ctx, call, nil)
}

// compose decides about a call as about the model's, and runs it. ask may be nil.
func (c calls) compose(ctx context.Context, call toolbox.ServerCall, ask func(context.Context, message.Message) error) message.ToolResult {
	wanted := message.ToolCall{Name: call.Tool.Name, Arguments: call.Arguments}
	r := &request{announced: message.ToolRequest{ID: call.RequestID, Call: message.Success(wanted)}, call: wanted}
	r.call.Arguments = coerce(call.Arguments, call.Tool.Schema)
	if err := newApprover(c.service, c.agent, ask).decide(ctx, []*request{r}); err != nil {
		return message.FailedResult(clientMessage(err))
	}
	if !r.decided {
		c.runOne(ctx, r)
	}
	return r.result
}

// A composition has the calls that a client makes while it runs one tool of a reply.
type composition struct {
	calls  calls
	reply  context.Context // of the agent, for telemetry
	mu     sync.Mutex
	over   bool
	inside sync.WaitGroup
}

// call is [toolbox.ClientCall.Compose]. After end it runs nothing.
func (c *composition) call(ctx context.Context, call toolbox.ServerCall) message.ToolResult {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return message.FailedResult(string(internal))
	}
	c.inside.Add(1)
	c.mu.Unlock()
	defer c.inside.Done()
	return c.calls.compose(telemetry.Within(ctx, c.reply), call, func(ctx context.Context, question message.Message) error { return c.calls.ask(ctx, question, false) })
}

// end waits for the calls, whose contexts have ended.
func (c *composition) end() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.inside.Wait()
}
