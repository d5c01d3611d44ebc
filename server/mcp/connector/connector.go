// Package connector connects agents to their extensions. It starts MCP servers and talks to them, and keeps the tools
// that clients run themselves (GA 6.7, decisions X1 to X13).
//
// A [Connector] knows how to reach extensions. It creates a [Set] for each agent, which has the agent's extensions.
package connector

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/mcp/osv"
	"github.com/lockstep-dev/lockstep/server/mcp/platform"
	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
	"github.com/lockstep-dev/lockstep/server/mcp/signin"
)

// A Connector has what all agents of a server share.
type Connector struct {
	// Secrets has the values of env_keys (GA 1.4).
	Secrets Secrets
	// Settings says which extensions can be enabled.
	Settings platform.Settings
	// Sessions has the working directories, todo lists and messages for the built-in extensions.
	Sessions platform.Sessions
	// SetData stores the extension data of a session. found is false if there is no such session.
	SetData func(ctx context.Context, sessionID string, data json.RawMessage) (found bool, err error)
	// Skills are the directories with skills for all sessions (decision X30).
	Skills []string
	// SignIns lets users sign in to servers over streamable HTTP that demand a token. If it is nil, such servers are
	// rejected.
	SignIns *signin.SignIns
	// Packages looks up packages before commands fetch and run them. Nil disables that.
	Packages *osv.Database
	// Executable is the program that runs the built-in extensions, as `<executable> mcp <name>`.
	Executable string
	// Directory is the working directory of commands.
	Directory string
	// Guard ends the processes of extensions when the server ends in any way. If it is nil, they outlive a server that
	// is killed.
	Guard *processgroup.Guard
	// Environment is the environment of commands, in addition to what their extension sets, in the form of os.Environ.
	Environment []string
	// ClientVersion is the client's version in initialize; that of goose if empty.
	ClientVersion string
	// TodoLimit is the maximum number of characters in a todo list.
	TodoLimit int
	// MaxMessage is the maximum size of a server's message in bytes; 16 MiB if 0 (decision X12).
	MaxMessage int
	// Grace is how long a process may take to end: once after its input ends, and again after it is asked to end; 1 s
	// if 0 (decision X11).
	Grace time.Duration
	// NoGrace is closed when ending connections get no more time. Nil means that they always have time.
	NoGrace <-chan struct{}
	Log     *slog.Logger
}

func (c *Connector) maxMessage() int { return cmp.Or(c.MaxMessage, 16<<20) }

func (c *Connector) grace() time.Duration { return cmp.Or(c.Grace, time.Second) }

// Secrets are looked up on every use. A value is canonical JSON, or nil if there is none.
type Secrets interface {
	Secret(key string) (json.RawMessage, error)
}

type provider = toolbox.Provider

// These are the reasons for not adding an extension.
const (
	noName  = mcperror.Reason("Extension has no name")
	badURL  = mcperror.Reason("Invalid URL: http:// or https:// with a host is needed")
	tooMany = mcperror.Reason("Too many extensions")
)

// maxExtensions is the maximum number of extensions of an agent (decision X12).
const maxExtensions = 100

// Time limits of requests (decision X4).
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

// open connects a set to an extension. The context only limits the connecting.
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
		return c.run(ctx, config, client.Command{
			Name: config.Cmd, Args: config.Args, Directory: c.Directory, Environment: environment(c.Environment, variables),
		})
	case "inline_python":
		return c.openPython(ctx, config)
	case "builtin":
		return c.openBuiltin(ctx, config)
	case "sse", "streamable_http":
		return c.openURL(ctx, config)
	case "platform":
		return s.host.Open(config)
	}
	return nil, mcperror.Reason("Extension type is not built on this server: " + config.Type)
}

// lookUp rejects a command that would fetch a package with known malware (GA 29.3). If the lookup fails, it rejects
// nothing.
func (c *Connector) lookUp(ctx context.Context, config extension.Config) error {
	p, ok := osv.Of(config.Cmd, config.Args)
	if !ok || c.Packages == nil {
		return nil
	}
	advisories, err := c.Packages.Harm(ctx, p)
	if err != nil {
		c.Log.WarnContext(ctx, "package not looked up", "extension", config.Name, "err", err)
	}
	if advisories != "" {
		return mcperror.Reason("invalid config: Blocked malicious package: " + p.String() + ". OSV MAL advisories: " + advisories)
	}
	return nil
}

// Builtins are the extensions that come with goose (GA 1.1), and whether this server implements them.
var Builtins = map[string]bool{"autovisualiser": false, "computercontroller": false, "developer": true, "memory": false, "tutorial": false}

// openBuiltin runs this program as the server of a built-in extension.
func (c *Connector) openBuiltin(ctx context.Context, config extension.Config) (provider, error) {
	name := extension.Key(config.Name)
	built, known := Builtins[name]
	switch {
	case !known:
		return nil, mcperror.Reason("Unknown builtin extension: " + config.Name)
	case !built:
		return nil, mcperror.Reason("Extension is not built on this server: " + config.Name)
	}
	return c.run(ctx, config, client.Command{
		Name: c.Executable, Args: []string{"mcp", name}, Directory: c.Directory, Environment: environment(c.Environment, nil),
	})
}

// run starts a server, and talks to it over its standard input and output.
func (c *Connector) run(ctx context.Context, config extension.Config, what client.Command) (provider, error) {
	secrets := c.secretsOf(config)
	what.MaxMessage, what.Timeout, what.Grace, what.NoGrace, what.Guard = c.maxMessage(), timeoutOf(config), c.grace(), c.NoGrace, c.Guard
	p, err := client.Start(what)
	if err != nil {
		_ = what.Temporary.Remove() // on failure, the next server's start removes it
		return nil, err
	}
	said := func() string {
		text, isCut := p.LastWords()
		return lastLine(text, isCut, secrets)
	}
	x, err := c.connect(ctx, p, config)
	if err != nil {
		c.Log.Debug("extension has not started", "extension", config.Name, "err", err, "stderr", said())
		return nil, err
	}
	x.OnLost(func() {
		p.WaitForLastWords()
		c.logLost(config.Name, said())
	})
	return x, nil
}

// connect performs the MCP handshake with a server.
func (c *Connector) connect(ctx context.Context, t client.Transport, config extension.Config) (*client.Client, error) {
	return client.Connect(ctx, t, client.Options{Version: c.ClientVersion, Timeout: timeoutOf(config), MaxMessage: c.maxMessage()})
}
