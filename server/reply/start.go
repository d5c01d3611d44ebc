package reply

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/history"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// A Request is the body of POST /reply, as far as it counts (GA 7.1, 7.2).
type Request struct {
	SessionID string
	Messages  []message.Message // the last one is what the user says now
}

// An exchange is one reply: from what the user says to the end of the stream.
type exchange struct {
	*Service
	agent   *Agent
	session session.Session // as it was at the start
	mode    mode
	guard   guard
	out     *queue

	tokens       session.Tokens     // what was read last
	counted      int64              // the agent's count when numbers did so, -1 at first
	conversation []message.Message  // as the model will see it: with what the turns bring
	read         store.Conversation // as it was read last, without that

	outputMu sync.Mutex
	output   *string // the final output, once it is there
}

// collect keeps a final output.
func (x *exchange) collect(output string) {
	x.outputMu.Lock()
	defer x.outputMu.Unlock()
	x.output = &output
}

// collected returns the final output, nil if there is none yet.
func (x *exchange) collected() *string {
	x.outputMu.Lock()
	defer x.outputMu.Unlock()
	return x.output
}

// start does what comes before the stream (GA 7.3): it saves what the user says, and returns what is to be done. Its
// error is the text of the one event that there is then.
func (s *Service) start(ctx context.Context, a *Agent, r Request) (x *exchange, todo func(context.Context) error, err error) {
	x = &exchange{Service: s, agent: a, out: newQueue(), counted: -1}
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
	if todo, err = x.begin(ctx, said); errors.Is(err, store.ErrNotFound) { // it was deleted just now
		err = notRead(err)
	}
	return x, todo, err
}

// notRead is what a reply fails with whose session is not there, or cannot be read.
func notRead(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return Failure("Failed to read session: Session not found")
	}
	return fmt.Errorf("%w: %w", Failure("Failed to read session: "+unreadable), err)
}

// begin saves what the user says and chooses what is done about it (GA 7.6 steps 1 and 2).
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
	x.mode = modeOf(x.text("GOOSE_MODE"))
	x.guard = guardOf(x.Settings)
	if manual {
		return x.compactByHand, nil
	}
	provider := x.agent.Provider()
	if provider == nil {
		return nil, noProvider
	}
	if percent, ok := x.overThreshold(provider); ok {
		return func(ctx context.Context) error { return x.compactAndConverse(ctx, percent) }, nil
	}
	return x.converse, nil
}

// run is the engine: it does what is to be done, and tells how it ended (GA 7.4).
func (x *exchange) run(ctx context.Context, todo func(context.Context) error) {
	defer x.out.end()
	err := x.guarded(ctx, todo)
	if context.Cause(ctx) == errDeleted {
		tokens, _ := x.numbers(context.WithoutCancel(ctx)) // those that were read last, if it cannot be read
		x.out.force(finishEvent(tokens))
		return
	}
	if ctx.Err() != nil {
		return // nobody listens any more
	}
	switch {
	case err == nil:
	case errors.Is(err, store.ErrNotFound):
		// The session was deleted: what was to be saved has no place any more, and there is nothing left to do.
		x.Log.Debug("session deleted during its reply", "session", x.session.ID, "err", err)
	default:
		x.Log.Warn("reply failed", "session", x.session.ID, "err", err)
		if x.out.push(ctx, errorEvent(told(err))) != nil {
			return
		}
	}
	tokens, err := x.numbers(ctx)
	if err != nil {
		x.Log.Warn("tokens not read", "session", x.session.ID, "err", err)
	}
	_ = x.out.push(ctx, finishEvent(tokens)) // its only error is that nobody listens
}

// guarded makes an error of a panic: one reply must not end the server.
func (x *exchange) guarded(ctx context.Context, todo func(context.Context) error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			x.Log.Error("panic in a reply", "session", x.session.ID, "err", broken, "stack", string(debug.Stack()))
			err = internal
		}
	}()
	return todo(ctx)
}

// caught logs a panic of a goroutine that nothing depends on. It is deferred.
func caught(log *slog.Logger, what string) {
	if broken := recover(); broken != nil {
		log.Error("panic in a "+what, "err", broken, "stack", string(debug.Stack()))
	}
}

// load reads the conversation.
func (x *exchange) load(ctx context.Context) error {
	read, err := x.Store.Conversation(ctx, x.session.ID)
	if err != nil {
		return fmt.Errorf("%w: its conversation: %w", unreadable, err)
	}
	x.read = read
	x.conversation = slices.Clip(read.Messages)
	return nil
}

// send sends a message with the numbers that the session has at this moment.
func (x *exchange) send(ctx context.Context, m message.Message) error {
	tokens, err := x.numbers(ctx)
	if err != nil {
		return err
	}
	return x.out.push(ctx, messageEvent(m, tokens))
}

// numbers returns the numbers of the session, those that were read last if it is not there any more. They are read again
// when a reply of the session has changed them, and not for every piece of an answer.
func (x *exchange) numbers(ctx context.Context) (session.Tokens, error) {
	counted := x.agent.live.counted.Load()
	if x.counted == counted {
		return x.tokens, nil
	}
	tokens, err := x.Store.Tokens(ctx, x.session.ID)
	if errors.Is(err, store.ErrNotFound) {
		return x.tokens, nil
	}
	if err != nil {
		return x.tokens, fmt.Errorf("%w: its tokens: %w", unreadable, err)
	}
	x.tokens, x.counted = tokens, counted
	return tokens, nil
}

// count notes what a call of the model has cost (GA 7.12).
func (x *exchange) count(ctx context.Context, used llm.Usage) error {
	defer x.agent.live.counted.Add(1)
	if err := x.Store.AddUsage(ctx, x.session.ID, used.Total, used.Input, used.Output); err != nil {
		return fmt.Errorf("%w: its tokens: %w", unwritable, err)
	}
	return nil
}

// save adds messages to the session and to what the model will see.
func (x *exchange) save(ctx context.Context, messages ...message.Message) error {
	if len(messages) == 0 {
		return nil
	}
	if err := x.add(ctx, messages...); err != nil {
		return err
	}
	x.conversation = append(x.conversation, messages...)
	return nil
}

// add adds messages to the session alone.
func (x *exchange) add(ctx context.Context, messages ...message.Message) error {
	if err := x.Store.AddMessages(ctx, x.session.ID, messages...); err != nil {
		return fmt.Errorf("%w: save messages: %w", unwritable, err)
	}
	return nil
}

// say sends a message of the engine: it has no id and is not saved.
func (x *exchange) say(ctx context.Context, content ...message.Content) error {
	return x.send(ctx, made(message.Assistant, content...))
}

// made returns a message that both see.
func made(role message.Role, content ...message.Content) message.Message {
	return message.Message{Role: role, Created: time.Now().Unix(), Content: content, Metadata: message.Visible}
}

// passOn gives an MCP server the answer that it waits for (GA 8.3, decision M44).
func (x *exchange) passOn(ctx context.Context, said message.Message, response message.ElicitationResponse) error {
	if x.agent.live.elicitations.Open(response.ID) {
		if err := x.add(ctx, said); err != nil {
			return err
		}
		if x.agent.live.elicitations.Answer(response.ID, response.UserData) {
			return nil
		}
	}
	return x.say(ctx, message.Text{Text: "Failed to submit elicitation response: Request not found: " + response.ID})
}

// text returns the string that a setting holds, or nothing.
func (s *Service) text(key string) string { return textOf(s.Settings, key) }

// estimate returns how many tokens the conversation has: what the last call said, else about that (GA 7.10).
func (x *exchange) estimate() int64 {
	if total := x.session.Tokens.Total; total != nil {
		return *total
	}
	return history.Estimate(x.conversation)
}
