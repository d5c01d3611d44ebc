// Package extensions connects agents to their extensions: it starts MCP servers and talks to them, and keeps the tools that
// clients run themselves (GA 6.7, decisions X1 to X13).
//
// A [Connector] knows how extensions are reached. It makes a [Set] for each agent, which has the extensions that the agent
// is connected to. Behind each is a [provider]: an MCP server, or a list of tools of the client.
package extensions

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// A Connector knows what all agents of a server have in common.
type Connector struct {
	// Secrets are where the values of env_keys are (GA 1.4).
	Secrets Secrets
	// Directory is where commands run.
	Directory string
	// Environment is what commands get, besides what their extension says; as in os.Environ.
	Environment []string
	// ClientVersion is what the client says in initialize; that of goose if empty.
	ClientVersion string
	Log           *slog.Logger
}

// Secrets are looked up on every use. A value is canonical JSON, nil if there is none.
type Secrets interface {
	Secret(key string) (json.RawMessage, error)
}

// A provider is what stands behind one extension.
type provider interface {
	// tools lists the tools under their own names.
	tools(ctx context.Context) ([]llm.Tool, error)
	// frontend lists the tools that the client runs.
	frontend() []llm.Tool
	// instructions are for the model; empty if there are none.
	instructions() string
	// call runs a tool, whose name is its own here.
	call(ctx context.Context, name string, call reply.Call) message.Result[[]message.ToolContent]
	// close ends the connection and waits until it has ended.
	close()
}

// What is bounded (decision X12).
const (
	maxExtensions = 100
	maxPages      = 100
	maxQuestions  = 16 // of one connection at a time
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

// open connects to an extension. The context is for the connecting alone.
func (c *Connector) open(ctx context.Context, config extension.Config) (provider, error) {
	switch config.Type {
	case "frontend":
		return newFrontend(config), nil
	case "stdio":
		return c.openCommand(ctx, config)
	}
	return nil, reason("Extension type is not built on this server: " + config.Type)
}

// openCommand starts a server and talks to it over its standard input and output.
func (c *Connector) openCommand(ctx context.Context, config extension.Config) (provider, error) {
	variables, err := c.variables(config)
	if err != nil {
		return nil, err
	}
	p, err := start(command{
		name:        config.Cmd,
		args:        config.Args,
		directory:   c.Directory,
		environment: environment(c.Environment, variables),
	})
	if err != nil {
		return nil, err
	}
	client, err := c.connect(ctx, p, timeoutOf(config))
	if err != nil {
		c.Log.Debug("extension has not started", "extension", config.Name, "err", err, "stderr", p.lastWords())
		return nil, err
	}
	return client, nil
}
