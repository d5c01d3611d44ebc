// Package reply answers POST /reply: the chat stream (GA 7), and what belongs to it: the confirmation of tools (GA 8) and
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
package reply

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/permissions"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// A Store keeps sessions; [*store.Store] is one.
type Store interface {
	// Whatever needs a session fails with [store.ErrNotFound] if there is none, save AddUsage, SetLastUsage and NameOnce:
	// they change nothing then.

	// Session returns a session without its conversation, Conversation that alone.
	Session(ctx context.Context, id string) (session.Session, error)
	Conversation(ctx context.Context, id string) (store.Conversation, error)
	// AddMessages adds messages in their order, all or none.
	AddMessages(ctx context.Context, id string, messages ...message.Message) error
	// Compact changes who sees the messages of a conversation that was read, and adds messages right behind them, in front of
	// those that others have added since; all or nothing.
	Compact(ctx context.Context, id string, read store.Conversation, seen []message.Metadata, added []message.Message) error
	// Tokens returns the numbers of a session. AddUsage replaces those of the last call and adds them to the accumulated
	// ones; SetLastUsage does only the first.
	Tokens(ctx context.Context, id string) (session.Tokens, error)
	AddUsage(ctx context.Context, id string, total, input, output *int64) error
	SetLastUsage(ctx context.Context, id string, total, input, output *int64) error
	// NameOnce names a session, unless its user has done so.
	NameOnce(ctx context.Context, id, name string) error
	// Update changes a session, if there is one.
	Update(ctx context.Context, id string, changes ...store.Change) (found bool, err error)
}

// Permissions say which tools may run without a question (GA 18.1); [*permissions.Permissions] are some.
type Permissions interface {
	Permission(tool string) (permissions.Level, error)
	Allow(tool string) error
}

// A Toolbox holds the tools of one agent's extensions. It is safe for concurrent use.
type Toolbox interface {
	// Snapshot says what there is at the moment.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Call runs a tool of the snapshot, or one that there is not. It returns soon after its context has ended.
	Call(ctx context.Context, call Call) message.Result[[]message.ToolContent]
}

// A Snapshot is what extensions offer.
type Snapshot struct {
	// Tools are under their full names, such as developer__shell, in the order of the keys of their extensions.
	Tools []llm.Tool
	// Frontend are the tools that the client runs, under their own names.
	Frontend []llm.Tool
	// Instructions and Notes are in the order of the extensions' keys (decisions M16, M19).
	Instructions []Instructions
	Notes        []string
}

// Instructions are what an extension tells the model.
type Instructions struct{ Key, Text string }

// A Call is one call of a tool.
type Call struct {
	SessionID, RequestID, WorkingDir string

	Name      string
	Arguments json.RawMessage // an object; nil if the model gave none

	// Notify passes on a notification of the server while the tool runs. It does not block: what nobody takes is dropped
	// (GA 18.4).
	Notify func(Notification)
	// Elicit asks the user, and returns what he says. Its error is that there is no answer.
	Elicit func(ctx context.Context, text string, schema json.RawMessage) (json.RawMessage, error)
	// Sample asks the model of the agent. The text of its error is for the server.
	Sample func(ctx context.Context, question Sampling) (Sampled, error)
}

// A Service answers the operations of this package for all sessions.
type Service struct {
	Store Store
	// Use returns the agent of a session, a new one if there is none. It stays as it is until it is released. Stream does
	// the same for a reply.
	Use, Stream func(sessionID string) (a *Agent, release func())
	Settings    Settings
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

// Settings are looked up on every use (GA 1.4). A value is canonical JSON, nil if there is none.
type Settings interface {
	Setting(key string) (json.RawMessage, error)
}

// A Failure is an error whose text a client gets as it is. What a database or the system says is no such error: it may
// stand behind one, for the log.
type Failure string

func (f Failure) Error() string { return string(f) }

const (
	// noProvider is what a reply fails with when no model was chosen (GA 7.3).
	noProvider Failure = "Provider not set"

	unreadable Failure = "Session cannot be read"
	unwritable Failure = "Session cannot be written"
	internal   Failure = "Internal error"
)

// told returns what a client is told of an error.
func told(err error) string {
	if failure, ok := errors.AsType[Failure](err); ok {
		return string(failure)
	}
	return string(internal)
}
