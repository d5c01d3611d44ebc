package turn

import (
	"context"
	"slices"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// clientTools returns the tools that the client of a session offers now (CT 11.6).
func clientTools(clients toolbox.Clients, s session.Session) []toolbox.ClientTool {
	if id := s.ClientID(); id != "" && clients != nil {
		return clients.Tools(id)
	}
	return nil
}

// addClients offers the tools of a client after all others. A tool with the name of another one is not offered (decision
// S73); addClients returns these.
func (s *toolset) addClients(tools []toolbox.ClientTool) (refused []toolbox.ClientTool) {
	s.clients = map[string]toolbox.ClientTool{}
	for _, tool := range tools {
		if s.has(tool.Name) {
			refused = append(refused, tool)
			continue
		}
		s.clients[tool.Name] = tool
		s.offered = append(s.offered, tool.Tool)
	}
	return refused
}

// ClientTools returns the tools of a session's client under the names that the model is offered, in the order of their
// registration.
func (a *Agent) ClientTools(ctx context.Context, clients toolbox.Clients, s session.Session) []llm.Tool {
	tools := clientTools(clients, s)
	if len(tools) == 0 {
		return nil
	}
	snapshot, _ := a.Extensions.Snapshot(ctx) // after an error, no tool of an extension is offered either (decision X2)
	snapshot, _ = acceptable(snapshot)
	set := newToolset(snapshot, nil)
	own := len(set.offered)
	set.addClients(tools)
	return slices.Clip(set.offered[own:])
}

// guard applies the guards of CT 10 to a call that goose lets run. It reports whether they want the user to be asked.
func (a approver) guard(r *request) (ask bool) {
	if r.decided || r.client == nil {
		return false
	}
	ask, refused := a.clients.Check(r.clientCall(a.sessionID))
	if refused != nil {
		r.result, r.decided = *refused, true
		return false
	}
	return ask
}

// clientCall returns the request as a call of a client's tool.
func (r *request) clientCall(sessionID string) toolbox.ClientCall {
	return toolbox.ClientCall{
		Tool: *r.client, SessionID: sessionID, MessageID: r.messageID, RequestID: r.announced.ID, Arguments: r.call.Arguments,
	}
}

// stopped is the reason for ending the calls of a stopped agent, as the model reads it.
const stopped = Failure("The agent was stopped")

// startClient sends a request to its client, and returns the function that waits for the result: until the reply ends or
// the agent is stopped. Requests of one turn are sent in their order.
func (c calls) startClient(ctx context.Context, r *request) (finish func()) {
	call := r.clientCall(c.session.initial.ID)
	notify, over := c.notifications(ctx, r.announced.ID)
	call.Notify = notify
	call.Over = func() bool { return ctx.Err() != nil || c.agent.running.Err() != nil }
	composed := &composition{calls: c, reply: ctx}
	call.Compose = composed.call
	var wait func(context.Context) message.ToolResult
	sent := false
	failed := c.recovered(ctx, r.call.Name, func() message.ToolResult {
		if c.agent.running.Err() == nil {
			wait, sent = c.service.Clients.Start(call)
		}
		return message.FailedResult(string(stopped))
	})
	return func() {
		defer over()
		defer composed.end()
		if wait == nil {
			r.result = failed
			r.span.End(ctx, failed.Error)
			return
		}
		r.result = c.recovered(ctx, r.call.Name, func() message.ToolResult {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(c.agent.running, func() { cancel(stopped) })()
			return wait(ctx)
		})
		failure := r.result.Error
		if sent && failure != nil {
			failure = new("") // the text may be the client's, which has no code
		}
		r.span.End(ctx, failure)
		r.result = c.settled(ctx, r, sent)
	}
}
