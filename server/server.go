// Package server is the agent server: it serves the operations of the contract over HTTP.
//
// A request passes these steps in order (decision S1):
//
//  1. preroute parses the path by the rules of CT 3.3, refuses what may not use client tools, sets the headers that every answer has, answers OPTIONS, and checks
//     the secret of the goose-server family.
//  2. Echo's router answers 404 for an unknown path, and 405 for a wrong method.
//  3. The middleware of the operation determines its directory, then reads and checks its body (packages query and body).
//  4. The generated strict handler binds the parameters and calls the operation's method.
//
// [New] connects the packages below this one:
//
//   - handlers: one package for each group of operations.
//   - engine: what answers a user: turns of the model, permissions, open requests, agents in memory.
//   - mcp: connections to extensions, sign-ins to their servers, and the built-in MCP server.
//   - llm, store, settings: models, the database, the configuration.
//   - domain: sessions, messages, recipes and extensions as plain data.
//   - httpapi: requests and responses, independent of the operations.
//   - wire: JSON and YAML in exactly the form that the behaviour documents require.
//   - telemetry: what the server exports about its work, of which the engine, llm and mcp record parts.
//   - files: reading of untrusted files, and files that only the server's user can read.
package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/handlers/reply"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	"github.com/lockstep-dev/lockstep/server/httpapi/auth"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// operations has all operations of the contract. Each group of operations has a handler type of its own.
type operations struct {
	*clientToolHandlers
	*eventHandlers
	*sessionHandlers
	*agentHandlers
	*configHandlers
	*providerHandlers
	*replyHandlers
	diagnosticsHandlers
}

// These aliases give the embedded handlers distinct field names.
type (
	clientToolHandlers = clienttools.Handlers
	eventHandlers      = events.Handlers
	replyHandlers      = reply.Handlers
)

var _ gen.StrictServerInterface = operations{}

// Config configures a server. Only Directory and Directories are required.
type Config struct {
	// Directories are where sessions, settings and logs are stored. They are created if they do not exist.
	Directories settings.Directories
	// Env is the environment in which settings and secrets are looked up first (GA 1.4). Nil means an empty one.
	Env settings.Lookup
	// Environment is the environment of the commands of extensions, in the form of os.Environ. Nil means an empty one.
	Environment []string
	// Executable is the path of the server's program, which also runs the built-in extensions.
	Executable string
	// Guard is a command that ends the processes of extensions when its standard input ends, which happens when the
	// server ends. The command calls processgroup.RunGuard. If Guard is empty, these processes outlive a server that
	// is killed.
	Guard []string
	// Models sends the requests to models, and that for the list of their prices. Nil means over the network.
	Models http.RoundTripper
	// MaxActiveAgents is the maximum number of agents in memory; 100 if 0.
	MaxActiveAgents int
	// Directory is the directory of requests that name no other (CT 3.6).
	Directory string
	// SecretKey is the secret that requests of the goose-server family must have (GA 2.2); "test" if empty.
	SecretKey string
	// DefaultTimeout is how long an execution waits for its result if its caller does not say; 30 s if 0.
	DefaultTimeout time.Duration
	// KeepaliveInterval is the time between two pings of a pending stream; 30 s if 0.
	KeepaliveInterval time.Duration
	// MaxBodyBytes is the maximum size of a request body; 50 MiB if 0. A request takes two to three times the memory
	// of its body.
	MaxBodyBytes int64
	// BodyGrace is how long a body may arrive at any speed; 10 s if 0 (decision S41).
	BodyGrace time.Duration
	// Bounds limit what clients may register.
	Bounds clienttools.Bounds
	// RateLimit limits the executions of each client; [clienttools.DefaultRateLimit] if nil.
	RateLimit *clienttools.RateLimit
	// Access says which pages in a browser may use client tools. By default, only those of this machine may.
	Access access.Rules
	// Permissions say which client tools may be executed. By default, all may.
	Permissions clienttools.Permissions
	// Hooks are the commands that decide about calls of tools. By default, there are none.
	Hooks hooks.Lists
	// HookErrors is the standard error of these commands. Nil means none.
	HookErrors *os.File
	// Pages receives the addresses of pages for sign-ins that no browser opens, a line each (decision X53). They have
	// secrets, so they are not for Log. Nil means that they are dropped.
	Pages io.Writer

	// Queue limits how many events a stream keeps for a slow reader; see [events.Options].
	Queue events.Options
	// ReadTimeout is how long a client may take to send the head of a request, and each piece of its body; 30 s if 0.
	ReadTimeout time.Duration
	// WriteTimeout is how long a client may take nothing of an answer that is ready; 1 min if 0. If it is too short,
	// clients that only pause lose their streams, and with them their tools.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection is kept open between requests; 2 min if 0.
	IdleTimeout time.Duration
	// StopTimeout is how long a graceful stop may take before connections are cut; 4 s if 0.
	StopTimeout time.Duration
	// ExtensionGrace is how long a process of an extension may take to end: once after its input ends, and again after
	// it is asked to end; 1 s if 0 (decision X11).
	ExtensionGrace time.Duration

	// Log receives what a person should know, and at debug level what happens. It never receives bodies or query
	// strings. Nil means no log.
	Log *slog.Logger
	// Telemetry records what the server does. The server shuts it down when it stops. Nil means none.
	Telemetry *telemetry.Telemetry
}

// withDefaults returns the configuration with its defaults filled in, or everything that is wrong with it.
func (c Config) withDefaults() (Config, error) {
	var problems []error
	if c.Directory == "" {
		problems = append(problems, errors.New("server: Config.Directory is required"))
	}
	if c.Directories == (settings.Directories{}) {
		problems = append(problems, errNoDirectories)
	}
	for _, field := range []struct {
		name      string
		value     *time.Duration
		byDefault time.Duration
	}{
		{"DefaultTimeout", &c.DefaultTimeout, 30 * time.Second},
		{"KeepaliveInterval", &c.KeepaliveInterval, 30 * time.Second},
		{"BodyGrace", &c.BodyGrace, 10 * time.Second},
		{"ReadTimeout", &c.ReadTimeout, 30 * time.Second},
		{"WriteTimeout", &c.WriteTimeout, time.Minute},
		{"IdleTimeout", &c.IdleTimeout, 2 * time.Minute},
		{"StopTimeout", &c.StopTimeout, 4 * time.Second},
		{"ExtensionGrace", &c.ExtensionGrace, time.Second},
	} {
		if *field.value < 0 {
			problems = append(problems, fmt.Errorf("server: Config.%s is negative: %s", field.name, *field.value))
		}
		*field.value = cmp.Or(*field.value, field.byDefault)
	}
	if c.MaxBodyBytes < 0 {
		problems = append(problems, fmt.Errorf("server: Config.MaxBodyBytes is negative: %d", c.MaxBodyBytes))
	}
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, 50<<20)
	if c.Queue.MaxEvents < 0 || c.Queue.MaxBytes < 0 {
		problems = append(problems, fmt.Errorf("server: Config.Queue is negative: %+v", c.Queue))
	}
	if c.MaxActiveAgents < 0 {
		problems = append(problems, fmt.Errorf("server: Config.MaxActiveAgents is negative: %d", c.MaxActiveAgents))
	}
	c.MaxActiveAgents = cmp.Or(c.MaxActiveAgents, 100)
	if c.Env == nil {
		c.Env = func(string) (string, bool) { return "", false }
	}
	if c.RateLimit == nil {
		c.RateLimit = &clienttools.DefaultRateLimit
	}
	c.SecretKey = cmp.Or(c.SecretKey, "test")
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(problems...)
}

// maxBodiesBytes limits the memory for the bodies of all running requests (decision S40), and again for the large
// messages of all sockets.
const maxBodiesBytes = 64 << 20

// A Server is an agent server. Sessions and settings are stored in its directories. Registered tools and events are
// only in memory. It keeps files open until Serve or Close returns.
type Server struct {
	config   Config
	bus      *events.Bus
	registry *clienttools.Registry
	goose    *goose
	http     *http.Server
}

// New returns a server, which Serve starts. Its error lists every mistake in the configuration, or says what cannot
// be opened.
func New(config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	goose, err := newGoose(config)
	if err != nil {
		return nil, err
	}
	bus := events.NewBus(&config.Queue)
	registry := clienttools.NewRegistry(bus, config.Bounds, *config.RateLimit)
	registry.KeepLeases(config.Directories.Leases(), config.Log)
	guards := &clienttools.Guards{Registry: registry, Permissions: config.Permissions, Hooks: goose.hooks, Owner: goose.ownerOf, Log: config.Log}
	goose.clients = &clienttools.Turns{Guards: guards, Directory: config.Directory, Timeout: config.DefaultTimeout, Log: config.Log}
	turns := goose.turns(config)
	streams := &events.Streams{Bus: bus, Log: config.Log}
	handler := router{
		operations: operations{
			clientToolHandlers: &clienttools.Handlers{
				Registry:    registry,
				Guards:      guards,
				Streams:     streams,
				ServerTools: goose.serverTools(config.Log),
				Compose:     turns.Compose,
				// Not shared with bodies, because a message may arrive as slowly as its client likes.
				Messages:       body.NewInFlight(maxBodiesBytes),
				DefaultTimeout: config.DefaultTimeout,
				Keepalive:      config.KeepaliveInterval,
			},
			eventHandlers:       &events.Handlers{Streams: streams, Keepalive: config.KeepaliveInterval},
			sessionHandlers:     goose.sessionHandlers(config),
			agentHandlers:       goose.agentHandlers(config),
			configHandlers:      &configHandlers{Settings: goose.settings, Permissions: goose.permissions, Log: config.Log},
			providerHandlers:    &providerHandlers{Settings: goose.settings, Providers: goose.providers, Prices: goose.prices, Log: config.Log},
			replyHandlers:       &reply.Handlers{Store: goose.store, Turns: turns},
			diagnosticsHandlers: goose.diagnosticsHandlers(config),
		},
		directory: config.Directory,
		key:       auth.NewKey(config.SecretKey),
		access:    config.Access,
		bodies: body.Limits{
			MaxBytes: config.MaxBodyBytes,
			Grace:    config.BodyGrace,
			Stall:    config.ReadTimeout,
			InFlight: body.NewInFlight(maxBodiesBytes),
		},
		bounds:    config.Bounds,
		telemetry: config.Telemetry,
		log:       config.Log,
	}.handler()
	return &Server{
		config:   config,
		bus:      bus,
		registry: registry,
		goose:    goose,
		http:     newHTTP(handler, config),
	}, nil
}

func newHTTP(handler http.Handler, config Config) *http.Server {
	return &http.Server{
		Handler:           handler,
		ConnContext:       conn.Context,
		ConnState:         conn.State,
		ReadHeaderTimeout: config.ReadTimeout,
		IdleTimeout:       config.IdleTimeout,
		MaxHeaderBytes:    1 << 20,
		// WriteTimeout stays 0: it would cut streams and long executions. Package conn limits each write instead.

		// Without this, net/http would answer `OPTIONS *` itself, without the CORS headers.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(connectionLog{config.Log}, "", 0),
	}
}

// A connectionLog logs what net/http reports. That may have texts of clients, so it is not the message (decision T13).
type connectionLog struct{ log *slog.Logger }

func (l connectionLog) Write(line []byte) (int, error) {
	l.log.Warn("connection failed", "err", strings.TrimSpace(string(line)))
	return len(line), nil
}
