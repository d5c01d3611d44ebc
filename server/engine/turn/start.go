package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/chatstream"
	"github.com/lockstep-dev/lockstep/server/engine/leadworker"
)

// A Request has the parts of the body of POST /reply that matter (GA 7.1, 7.2).
type Request struct {
	SessionID string
	Messages  []message.Message // the last one is the user's new message
}

// An exchange is one reply: from the user's message to the end of the stream.
type exchange struct {
	*Service
	storedSession
	collectedOutput
	agent   *Agent
	mode    mode
	prompts securityPrompts
	out     *chatstream.Queue
}

// start does what comes before the stream (GA 7.3): it saves the user's message, and returns what to do. After an
// error, its text is the stream's only event.
func (s *Service) start(ctx context.Context, a *Agent, r Request) (x *exchange, todo func(context.Context) error, err error) {
	x = &exchange{Service: s, storedSession: storedSession{store: s.Store, memory: a.memory, counted: -1}, agent: a, out: chatstream.NewQueue()}
	if x.session, err = s.Store.Session(ctx, r.SessionID); err != nil {
		return nil, nil, notRead(err)
	}
	x.tokens = x.session.Tokens
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
		messages = x.slashCommand(text, said)
	}
	if err := x.add(ctx, messages...); err != nil {
		return nil, err
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	x.mode = modeOf(leadworker.Text(x.Settings, "GOOSE_MODE"))
	x.prompts = securityPromptOf(x.Settings)
	compact := compaction{x}
	if manual {
		return compact.byHand, nil
	}
	provider := x.agent.Provider()
	if provider == nil {
		return nil, noProvider
	}
	if percent, ok := compact.overThreshold(provider); ok {
		return func(ctx context.Context) error { return compact.automatic(ctx, percent) }, nil
	}
	return x.converse, nil
}

// run is the engine: it does the work, and reports how it ended (GA 7.4).
func (x *exchange) run(ctx context.Context, todo func(context.Context) error) {
	defer x.out.End()
	err := x.guarded(ctx, todo)
	if context.Cause(ctx) == errDeleted {
		tokens, _ := x.numbers(context.WithoutCancel(ctx)) // after an error, the counts that were read last
		x.out.Force(chatstream.Finish(tokens))
		return
	}
	if ctx.Err() != nil {
		return // the client has left
	}
	switch {
	case err == nil:
	case errors.Is(err, session.ErrNotFound):
		// The session was deleted, so nothing can be saved and nothing is left to do.
		x.Log.Debug("session deleted during its reply", "session", x.session.ID, "err", err)
	default:
		x.Log.Warn("reply failed", "session", x.session.ID, "err", err)
		if x.out.Push(ctx, chatstream.Error(clientMessage(err))) != nil {
			return
		}
	}
	tokens, err := x.numbers(ctx)
	if err != nil {
		x.Log.Warn("tokens not read", "session", x.session.ID, "err", err)
	}
	_ = x.out.Push(ctx, chatstream.Finish(tokens)) // fails only if the client has left
}

// guarded turns a panic into an error, because one reply must not end the server.
func (x *exchange) guarded(ctx context.Context, todo func(context.Context) error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			x.Log.Error("panic in a reply", "session", x.session.ID, "err", broken, "stack", string(debug.Stack()))
			err = internal
		}
	}()
	return todo(ctx)
}

// send sends a message with the session's current token counts.
func (x *exchange) send(ctx context.Context, m message.Message) error {
	tokens, err := x.numbers(ctx)
	if err != nil {
		return err
	}
	return x.out.Push(ctx, chatstream.Message(m, tokens))
}

// say sends a message of the engine. It has no ID, and is not saved.
func (x *exchange) say(ctx context.Context, content ...message.Content) error {
	return x.send(ctx, message.New(message.Assistant, content...))
}

// passOn passes the user's answer to the MCP server that waits for it (GA 8.3, decision M44).
func (x *exchange) passOn(ctx context.Context, said message.Message, response message.ElicitationResponse) error {
	if x.memory.elicitations.Open(response.ID) {
		if err := x.add(ctx, said); err != nil {
			return err
		}
		if x.memory.elicitations.Answer(response.ID, response.UserData) {
			return nil
		}
	}
	return x.say(ctx, message.Text{Text: "Failed to submit elicitation response: Request not found: " + response.ID})
}
