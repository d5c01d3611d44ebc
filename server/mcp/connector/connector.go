// Package connector connects agents to their extensions: it starts MCP servers and talks to them, and keeps the tools that
// clients run themselves (GA 6.7, decisions X1 to X13).
//
// A [Connector] knows how extensions are reached. It makes a [Set] for each agent, which has the extensions that the agent
// is connected to.
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
	"github.com/lockstep-dev/lockstep/server/mcp/transport"
)

// A Connector knows what all agents of a server have in common.
type Connector struct {
	// Secrets are where the values of env_keys are (GA 1.4).
	Secrets Secrets
	// Settings say which extensions there are to enable.
	Settings platform.Settings
	// Sessions say where the built-in extensions work, keep todo lists, and are what chatrecall finds.
	Sessions platform.Sessions
	// Skills are directories of skills that all sessions have (decision X30).
	Skills []string
	// Packages are looked up before commands fetch and run them; nothing is looked up if nil.
	Packages *osv.Database
	// Executable is the program that is the built-in extensions, run as `<executable> mcp <name>`.
	Executable string
	// Directory is where commands run.
	Directory string
	// Guard ends the processes of extensions with the server, however that ends; they outlast one that is killed if nil.
	Guard *processgroup.Guard
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
	// NoGrace is closed when connections that end get no time for it any more; they always have time if nil.
	NoGrace <-chan struct{}
	Log     *slog.Logger
}

func (c *Connector) maxMessage() int { return cmp.Or(c.MaxMessage, 16<<20) }

func (c *Connector) grace() time.Duration { return cmp.Or(c.Grace, time.Second) }

// Secrets are looked up on every use. A value is canonical JSON, nil if there is none.
type Secrets interface {
	Secret(key string) (json.RawMessage, error)
}

type provider = toolbox.Provider

// Why an extension is not added.
const (
	noName  = mcperror.Reason("Extension has no name")
	badURL  = mcperror.Reason("Invalid URL: http:// or https:// with a host is needed")
	tooMany = mcperror.Reason("Too many extensions")
)

// maxExtensions is how many extensions an agent may have (decision X12).
const maxExtensions = 100

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
		return c.run(ctx, config, transport.Command{
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
		return mcperror.Reason("invalid config: Blocked malicious package: " + p.String() + ". OSV MAL advisories: " + advisories)
	}
	return nil
}

// Builtins are the extensions that goose brings along (GA 1.1), and whether they are built here.
var Builtins = map[string]bool{"autovisualiser": false, "computercontroller": false, "developer": true, "memory": false, "tutorial": false}

// openBuiltin runs this program as the server of an extension.
func (c *Connector) openBuiltin(ctx context.Context, config extension.Config) (provider, error) {
	name := extension.Key(config.Name)
	built, known := Builtins[name]
	switch {
	case !known:
		return nil, mcperror.Reason("Unknown builtin extension: " + config.Name)
	case !built:
		return nil, mcperror.Reason("Extension is not built on this server: " + config.Name)
	}
	return c.run(ctx, config, transport.Command{
		Name: c.Executable, Args: []string{"mcp", name}, Directory: c.Directory, Environment: environment(c.Environment, nil),
	})
}

// run starts a server and talks to it over its standard input and output.
func (c *Connector) run(ctx context.Context, config extension.Config, what transport.Command) (provider, error) {
	secrets := c.secretsOf(config)
	what.MaxMessage, what.Timeout, what.Grace, what.NoGrace, what.Guard = c.maxMessage(), timeoutOf(config), c.grace(), c.NoGrace, c.Guard
	p, err := transport.Start(what)
	if err != nil {
		_ = what.Temporary.Remove() // the next server tries again
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

// connect introduces this server to an MCP server.
func (c *Connector) connect(ctx context.Context, t client.Transport, config extension.Config) (*client.Client, error) {
	return client.Connect(ctx, t, client.Options{Version: c.ClientVersion, Timeout: timeoutOf(config), MaxMessage: c.maxMessage()})
}
