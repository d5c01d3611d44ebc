package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/chatstream"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// A Request has the parts of the body of POST /reply that matter (GA 7.1, 7.2).
type Request struct {
	SessionID string
	Messages  []message.Message // the last one is the user's new message
}

// An exchange is one reply: from the user's message to the end of the stream.
type exchange struct {
	service   *Service
	agent     *Agent
	session   *storedSession
	client    clientStream
	approver  approver
	collected atomic.Pointer[string] // the final output, once the model has given a valid one
}

// start does what comes before the stream (GA 7.3): it saves the user's message, and returns what to do. After an
// error, its text is the stream's only event.
func (s *Service) start(ctx context.Context, a *Agent, r Request) (x *exchange, todo func(context.Context) error, err error) {
	initial, err := s.Store.Session(ctx, r.SessionID)
	if err != nil {
		return nil, nil, notRead(err)
	}
	stored := &storedSession{store: s.Store, memory: a.memory, initial: initial, tokens: initial.Tokens, counted: -1}
	x = &exchange{service: s, agent: a, session: stored, client: clientStream{stored, chatstream.NewQueue()}}
	if len(r.Messages) == 0 {
		return nil, nil, Failure("Reply started with empty messages")
	}
	said := r.Messages[len(r.Messages)-1]
	said.ID = ""
	if response, ok := elicitationResponse(said); ok {
		return x, func(ctx context.Context) error { return x.passOn(ctx, said, response) }, nil
	}
	if todo, err = x.begin(ctx, said); errors.Is(err, session.ErrNotFound) { // deleted after it was read
		err = notRead(err)
	}
	return x, todo, err
}

// notRead returns the error of a reply whose session is missing or cannot be read.
func notRead(err error) error {
	if errors.Is(err, session.ErrNotFound) {
		return Failure("Failed to read session: Session not found")
	}
	return fmt.Errorf("%w: %w", Failure("Failed to read session: "+unreadable), err)
}

// begin saves the user's message, and chooses what to do about it (GA 7.6 steps 1 and 2).
func (x *exchange) begin(ctx context.Context, said message.Message) (todo func(context.Context) error, err error) {
	text, _ := said.PlainText()
	text = strings.TrimSpace(text)
	manual := isCompaction(text)
	messages := []message.Message{said}
	if !manual {
		messages = x.service.slashCommand(text, said)
	}
	if err := x.session.add(ctx, messages...); err != nil {
		return nil, err
	}
	if err := x.session.load(ctx); err != nil {
		return nil, err
	}
	x.approver = newApprover(x.service, x.agent, x.client.send)
	compact := compaction{x.agent, x.session, x.client}
	if manual {
		return compact.byHand, nil
	}
	provider := x.agent.Provider()
	if provider == nil {
		return nil, noProvider
	}
	if percent, over := overThreshold(x.service.Settings, x.session, provider); over {
		return func(ctx context.Context) error {
			if more, err := compact.automatic(ctx, percent); err != nil || !more {
				return err
			}
			return x.converse(ctx)
		}, nil
	}
	return x.converse, nil
}

// run is the engine: it does the work, and reports how it ended (GA 7.4).
func (x *exchange) run(ctx context.Context, todo func(context.Context) error) {
	defer x.client.events.End()
	ctx, span := x.service.Telemetry.Agent(ctx, x.providerName(), x.session.initial.ID)
	failure := ""
	defer func() { span.End(ctx, failure) }()
	err := x.guarded(ctx, todo)
	if context.Cause(ctx) == errDeleted {
		tokens, _ := x.session.numbers(context.WithoutCancel(ctx)) // after an error, the counts that were read last
		x.client.events.Force(chatstream.Finish(tokens))
		return
	}
	if ctx.Err() != nil {
		return // the client has left
	}
	switch {
	case err == nil:
	case errors.Is(err, session.ErrNotFound):
		// The session was deleted, so nothing can be saved and nothing is left to do.
		failure = telemetry.Cancelled
		x.service.Log.Debug("session deleted during its reply", "session", x.session.initial.ID, "err", err)
	default:
		failure = telemetry.Other
		x.service.Log.WarnContext(ctx, "reply failed", "session", x.session.initial.ID, "err", err)
		if x.client.events.Push(ctx, chatstream.Error(clientMessage(err))) != nil {
			return
		}
	}
	tokens, err := x.session.numbers(ctx)
	if err != nil {
		x.service.Log.WarnContext(ctx, "tokens not read", "session", x.session.initial.ID, "err", err)
	}
	_ = x.client.events.Push(ctx, chatstream.Finish(tokens)) // fails only if the client has left
}

// providerName returns the name of the session's provider, or "" if there is none.
func (x *exchange) providerName() string {
	if provider := x.agent.Provider(); provider != nil {
		return provider.Name()
	}
	return ""
}

// guarded turns a panic into an error, because one reply must not end the server.
func (x *exchange) guarded(ctx context.Context, todo func(context.Context) error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			x.service.Log.ErrorContext(ctx, "panic in a reply", "session", x.session.initial.ID, "err", broken, "stack", string(debug.Stack()))
			err = internal
		}
	}()
	return todo(ctx)
}

// passOn passes the user's answer to the MCP server that waits for it (GA 8.3, decision M44).
func (x *exchange) passOn(ctx context.Context, said message.Message, response message.ElicitationResponse) error {
	if x.agent.memory.elicitations.Open(response.ID) {
		if err := x.session.add(ctx, said); err != nil {
			return err
		}
		if x.agent.memory.elicitations.Answer(response.ID, response.UserData) {
			return nil
		}
	}
	return x.client.say(ctx, message.Text{Text: "Failed to submit elicitation response: Request not found: " + response.ID})
}
