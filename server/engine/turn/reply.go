// Package turn answers POST /reply: the chat stream (GA 7), and what belongs to it: the confirmation of tools (GA 8) and
// the choice of the model (GA 6.5, 6.6).
//
// A reply begins with its start (start.go): what the user says is saved, and it is found out what is to be done. If that
// fails, the stream has one Error. Otherwise a goroutine, the engine, does it and puts events into a bounded queue, from
// which the request's own goroutine writes the stream. The engine goes through turns (turns.go): it asks the model, sends
// what comes piece by piece, runs the tools that the model asks for (tools.go), saves what the turn has brought, and asks
// again until the model wants no more tools. When a conversation becomes too long, it is summarized (compaction.go).
//
// The client's going ends the engine's context, and with it everything that it waits for. What was not saved by then is
// lost (GA 7.5).
package turn

import (
	"context"
	"errors"
	"log/slog"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/leadworker"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// A Store keeps sessions; package store has one.
type Store interface {
	// Without the session, all methods fail with [session.ErrNotFound], but for AddUsage, SetLastUsage and NameOnce:
	// they change nothing then.

	// Session returns a session without its conversation, Conversation that alone.
	Session(ctx context.Context, id string) (session.Session, error)
	Conversation(ctx context.Context, id string) (session.Conversation, error)
	// AddMessages adds messages in their order, all or none.
	AddMessages(ctx context.Context, id string, messages ...message.Message) error
	// Compact changes who sees the messages of a conversation that was read, and adds messages right behind them, in front of
	// those that others have added since; all or nothing.
	Compact(ctx context.Context, id string, read session.Conversation, seen []message.Metadata, added []message.Message) error
	// Tokens returns the numbers of a session. AddUsage replaces those of the last call and adds them to the accumulated
	// ones; SetLastUsage does only the first.
	Tokens(ctx context.Context, id string) (modelconfig.Tokens, error)
	AddUsage(ctx context.Context, id string, total, input, output *int64) error
	SetLastUsage(ctx context.Context, id string, total, input, output *int64) error
	// NameOnce names a session, unless its user has done so.
	NameOnce(ctx context.Context, id, name string) error
}

// Permissions say which tools may run without a question (GA 18.1); [*permission.Permissions] are some.
type Permissions interface {
	Permission(tool string) (permission.Level, error)
	Allow(tool string) error
}

// A Service answers the operations of this package for all sessions.
type Service struct {
	Store Store
	// Use returns the agent of a session, a new one if there is none. It stays as it is until it is released. Stream does
	// the same for a reply.
	Use, Stream func(sessionID string) (a *Agent, release func())
	Settings    leadworker.Settings
	Permissions Permissions
	Providers   *llm.Factory
	// Hints returns what the user and the project of a directory have to say to every model.
	Hints func(directory string) string
	// ReadRecipe reads the file of a slash command.
	ReadRecipe func(path string) (recipe.Recipe, error)
	// Background runs what goes on behind a reply: the naming of sessions.
	Background *Background
	Log        *slog.Logger
	// MaxTurns is how often the model is asked in one reply; 1000 if 0.
	MaxTurns int
}

// A Failure is an error whose text clients see. Errors of the database or the system are not shown: a Failure may wrap one,
// for the log.
type Failure string

func (f Failure) Error() string { return string(f) }

const (
	// noProvider is what a reply fails with when no model was chosen (GA 7.3).
	noProvider Failure = "Provider not set"

	unreadable Failure = "Session cannot be read"
	unwritable Failure = "Session cannot be written"
	internal   Failure = "Internal error"
)

// clientMessage returns the text that a client gets for an error.
func clientMessage(err error) string {
	if failure, ok := errors.AsType[Failure](err); ok {
		return string(failure)
	}
	return string(internal)
}
