// Package turn answers POST /reply with the chat stream (GA 7). It also handles the confirmation of tools (GA 8) and
// the choice of the model (GA 6.5, 6.6).
//
// A reply begins in start.go: it saves the user's message, and decides what to do. If that fails, the stream has one
// Error. Otherwise a goroutine, the engine, does the work and puts events into a bounded queue. The request's own
// goroutine writes them to the stream. The engine goes through turns (turns.go). In each turn it asks the model,
// sends the answer piece by piece, runs the tools that the model requests (tools.go), and saves everything. It asks
// again until the model requests no more tools. A conversation that becomes too long is summarised (compaction.go).
//
// When the client leaves, the engine's context ends, and with it everything that it waits for. What was not saved by
// then is lost (GA 7.5).
//
// An [Agent] has what the replies of a session share. A [Pool] creates agents, one for each session in use (GA 6), and
// drops the least recently used ones.
package turn

import (
	"context"
	"errors"
	"log/slog"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// A Store keeps sessions. Package store implements it.
type Store interface {
	// If there is no such session, the methods fail with [session.ErrNotFound], except AddUsage, SetLastUsage and
	// NameOnce, which then do nothing.

	// Session returns a session without its conversation. Conversation returns only the conversation.
	Session(ctx context.Context, id string) (session.Session, error)
	Conversation(ctx context.Context, id string) (session.Conversation, error)
	// AddMessages adds messages in order, all or none.
	AddMessages(ctx context.Context, id string, messages ...message.Message) error
	// Compact changes the visibility of the messages in a conversation that was read, and inserts messages after them,
	// all or nothing. Messages that others have added since come after the inserted ones.
	Compact(ctx context.Context, id string, read session.Conversation, seen []message.Metadata, added []message.Message) error
	// Tokens returns the token counts of a session. AddUsage replaces the counts of the last call, and adds them to
	// the accumulated ones. SetLastUsage only replaces them.
	Tokens(ctx context.Context, id string) (modelconfig.Tokens, error)
	AddUsage(ctx context.Context, id string, total, input, output *int64) error
	SetLastUsage(ctx context.Context, id string, total, input, output *int64) error
	// NameOnce names a session unless its user has named it.
	NameOnce(ctx context.Context, id, name string) error
}

// Permissions say which tools may run without asking the user (GA 18.1). [*permission.Permissions] implements it.
type Permissions interface {
	Permission(tool string) (permission.Level, error)
	Allow(tool string) error
}

// A Service implements this package for all sessions.
type Service struct {
	Store Store
	// Use returns the agent of a session, and creates one if necessary. The agent stays open until release is called.
	// Stream does the same for a reply.
	Use, Stream func(sessionID string) (a *Agent, release func())
	Settings    llm.Settings
	Permissions Permissions
	Providers   *llm.Factory
	// Clients run tools for the sessions that have a client. Nil means that there are none.
	Clients toolbox.Clients
	// Hooks run around each call of a tool. Nil means that there are none.
	Hooks *hooks.Hooks
	// Hints returns what the user, and the project in a directory, tell every model.
	Hints func(directory string) string
	// ReadRecipe reads the recipe of a slash command.
	ReadRecipe func(path string) (recipe.Recipe, error)
	// Background runs what continues after a reply: the naming of sessions.
	Background *Background
	// Telemetry records replies and calls of tools. It may be nil.
	Telemetry *telemetry.Telemetry
	Log       *slog.Logger
	// MaxTurns is how often the model may be asked in one reply; 1000 if 0.
	MaxTurns int
}

// A Failure is an error with a text for clients. Clients do not see errors of the database or the system. A Failure
// may be joined with such an error, for the log.
type Failure string

func (f Failure) Error() string { return string(f) }

const (
	// noProvider is the error of a reply when no model was chosen (GA 7.3).
	noProvider Failure = "Provider not set"

	unreadable Failure = "Session cannot be read"
	unwritable Failure = "Session cannot be written"
	internal   Failure = "Internal error"
)

// clientMessage returns the text of an error for the client.
func clientMessage(err error) string {
	if failure, ok := errors.AsType[Failure](err); ok {
		return string(failure)
	}
	return string(internal)
}
