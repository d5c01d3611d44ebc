// Package extensions connects agents to their extensions: it starts MCP servers and talks to them, and keeps the tools that
// clients run themselves (GA 6.7, decisions X1 to X13).
//
// A [Connector] knows how extensions are reached. It makes a [Set] for each agent, which has the extensions that the agent
// is connected to. Behind each is a [provider]: an MCP server, or a list of tools of the client.
package extensions

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/osv"
	"github.com/lockstep-dev/lockstep/server/procgroup"
	"github.com/lockstep-dev/lockstep/server/reply"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// A Connector knows what all agents of a server have in common.
type Connector struct {
	// Secrets are where the values of env_keys are (GA 1.4).
	Secrets Secrets
	// Settings say which extensions there are to enable.
	Settings Settings
	// Sessions say where the built-in extensions work, keep todo lists, and are what chatrecall finds.
	Sessions Sessions
	// Skills are directories of skills that all sessions have (decision X30).
	Skills []string
	// Packages are looked up before commands fetch and run them; nothing is looked up if nil.
	Packages *osv.Database
	// Executable is the program that is the built-in extensions, run as `<executable> mcp <name>`.
	Executable string
	// Directory is where commands run.
	Directory string
	// Guard ends the processes of extensions with the server, however that ends; they outlast one that is killed if nil.
	Guard *procgroup.Guard
	// Environment is what commands get, besides what their extension says; as in os.Environ.
	Environment []string
	// ClientVersion is what the client says in initialize; that of goose if empty.
	ClientVersion string
	// TodoLimit is how many characters a todo list may have.
	TodoLimit int
	// MaxMessage is how many bytes a message of a server may have; 16 MiB if 0 (decision X12).
	MaxMessage int
	// Grace is how long a process may take to end, once when its input has ended, and once when it was asked to; 1 s if
	// 0 (decision X11).
	Grace time.Duration
	// Hurry is closed when connections that end get no time for it any more; they always have time if nil.
	Hurry <-chan struct{}
	Log   *slog.Logger
}

func (c *Connector) maxMessage() int { return cmp.Or(c.MaxMessage, 16<<20) }

func (c *Connector) grace() time.Duration { return cmp.Or(c.Grace, time.Second) }

// Secrets are looked up on every use. A value is canonical JSON, nil if there is none.
type Secrets interface {
	Secret(key string) (json.RawMessage, error)
}

// Settings are looked up on every use. A value is canonical JSON, nil if there is none.
type Settings interface {
	Setting(key string) (json.RawMessage, error)
}

// Sessions are those that are stored.
type Sessions interface {
	// Session returns a session without its conversation, Load one with it; the error is [store.ErrNotFound] if there is
	// none.
	Session(ctx context.Context, id string) (session.Session, error)
	Load(ctx context.Context, id string) (session.Session, error)
	// Youngest returns the ids of the sessions of users and schedules, the one that was made last first.
	Youngest(ctx context.Context) ([]string, error)
	Update(ctx context.Context, id string, changes ...store.Change) (found bool, err error)
}

// A provider is what stands behind one extension.
type provider interface {
	// tools lists the tools under their own names.
	tools(ctx context.Context) ([]llm.Tool, error)
	// frontend lists the tools that the client runs.
	frontend() []llm.Tool
	// instructions are for the model; empty if there are none.
	instructions(ctx context.Context) string
	// note is for the context note (decision M19); empty if there is none.
	note(ctx context.Context) string
	// call runs a tool, whose name is its own here.
	call(ctx context.Context, name string, call reply.Call) message.Result[[]message.ToolContent]
	// close ends the connection and waits until it has ended.
	close()
}

// What is bounded (decision X12).
const (
	maxExtensions = 100
	maxPages      = 100
	maxListed     = 4       // times the largest message: all pages of a list
	maxQuestions  = 16      // of one connection at a time
	aroundMessage = 1 << 10 // what an event may have besides a message
)

// Timeouts of requests (decision X4).
const (
	defaultTimeout = 300 * time.Second
	maxTimeout     = 86400 * time.Second
)

func timeoutOf(c extension.Config) time.Duration {
	if c.Timeout == nil || *c.Timeout == 0 {
		return defaultTimeout
	}
	return min(time.Duration(min(*c.Timeout, 86400))*time.Second, maxTimeout)
}

// open connects a set to an extension. The context is for the connecting alone.
func (c *Connector) open(ctx context.Context, s *Set, config extension.Config) (provider, error) {
	switch config.Type {
	case "frontend":
		return newFrontend(config), nil
	case "stdio":
		variables, err := c.variables(config)
		if err != nil {
			return nil, err
		}
		if err := c.lookUp(ctx, config); err != nil {
			return nil, err
		}
		return c.run(ctx, config, command{
			name: config.Cmd, args: config.Args, directory: c.Directory, environment: environment(c.Environment, variables),
		})
	case "inline_python":
		return c.openPython(ctx, config)
	case "builtin":
		return c.openBuiltin(ctx, config)
	case "sse", "streamable_http":
		return c.openURL(ctx, config)
	case "platform":
		return s.openPlatform(config)
	}
	return nil, reason("Extension type is not built on this server: " + config.Type)
}

// lookUp refuses a command that would fetch a package which is known to do harm (GA 29.3). A lookup that fails refuses
// nothing.
func (c *Connector) lookUp(ctx context.Context, config extension.Config) error {
	p, ok := osv.Of(config.Cmd, config.Args)
	if !ok || c.Packages == nil {
		return nil
	}
	advisories, err := c.Packages.Harm(ctx, p)
	if err != nil {
		c.Log.Warn("package not looked up", "extension", config.Name, "err", err)
	}
	if advisories != "" {
		return reason("invalid config: Blocked malicious package: " + p.String() + ". OSV MAL advisories: " + advisories)
	}
	return nil
}

// builtins are the extensions that goose brings along (GA 1.1), and whether they are built.
var builtins = map[string]bool{"autovisualiser": false, "computercontroller": false, "developer": true, "memory": false, "tutorial": false}

// openBuiltin runs this program as the server of an extension.
func (c *Connector) openBuiltin(ctx context.Context, config extension.Config) (provider, error) {
	name := extension.Key(config.Name)
	built, known := builtins[name]
	switch {
	case !known:
		return nil, reason("Unknown builtin extension: " + config.Name)
	case !built:
		return nil, reason("Extension is not built on this server: " + config.Name)
	}
	return c.run(ctx, config, command{
		name: c.Executable, args: []string{"mcp", name}, directory: c.Directory, environment: environment(c.Environment, nil),
	})
}

// run starts a server and talks to it over its standard input and output.
func (c *Connector) run(ctx context.Context, config extension.Config, what command) (provider, error) {
	secrets := c.secretsOf(config)
	what.maxMessage, what.timeout, what.grace, what.hurry, what.guard = c.maxMessage(), timeoutOf(config), c.grace(), c.Hurry, c.Guard
	p, err := start(what)
	if err != nil {
		_ = what.temporary.Remove() // the next server tries again
		return nil, err
	}
	client, err := c.connect(ctx, p, timeoutOf(config))
	if err != nil {
		c.Log.Debug("extension has not started", "extension", config.Name, "err", err, "stderr", lastLine(p.lastWords(), secrets))
		return nil, err
	}
	c.logEnd(client, config.Name, p, secrets)
	return client, nil
}
