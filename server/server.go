// Package server is the agent server: the operations of the contract behind HTTP.
//
// A request passes, in this order (decision S1):
//
//  1. preroute: the path is read by the rules of CT 3.3, the headers that every answer has are set, OPTIONS is answered,
//     and the goose-server family asks for its secret.
//  2. Echo's router: an unknown path is 404, a wrong method 405.
//  3. The middleware of the operation: its directory, then its body (packages query and body).
//  4. The generated strict handler, which binds the parameters and calls the operation's method.
//
// [New] puts the packages below together:
//
//   - handlers: one package for each group of operations.
//   - engine: what answers a user: turns of the model, permissions, open requests, agents in memory.
//   - mcp: connections to extensions, and the MCP server that is built in.
//   - llm, store, settings: models, the database, the configuration.
//   - domain: sessions, messages, recipes and extensions as plain data.
//   - httpapi: requests and responses, below the operations.
//   - wire: JSON and YAML as the behaviour demands.
//   - files: files of others, and files of the server alone.
package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
	"github.com/lockstep-dev/lockstep/server/handlers/reply"
	"github.com/lockstep-dev/lockstep/server/httpapi/auth"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// operations are all operations of the contract, each implemented by the resource it belongs to.
type operations struct {
	*clientToolHandlers
	*eventHandlers
	*sessionHandlers
	*agentHandlers
	*replyHandlers
	diagnosticsHandlers
}

// Fields that are embedded need names of their own.
type (
	clientToolHandlers = clienttools.Handlers
	eventHandlers      = events.Handlers
	replyHandlers      = reply.Handlers
)

var _ gen.StrictServerInterface = operations{}

// Config says how a server behaves. Only Directory and Directories are required.
type Config struct {
	// Directories are where sessions, settings and logs are. They are made if they do not exist.
	Directories settings.Directories
	// Env is where settings and secrets are looked up first (GA 1.4); nowhere if nil.
	Env settings.Lookup
	// Environment is what the commands of extensions get, as in os.Environ; nothing if nil.
	Environment []string
	// Executable is the path of the program that serves: it is also the built-in extensions.
	Executable string
	// Guard is the command that ends the processes of extensions with the server, whose input ends then; it calls
	// processgroup.RunGuard. They outlast a server that is killed if it is empty.
	Guard []string
	// Models is how models are reached; over the network if nil.
	Models http.RoundTripper
	// MaxActiveAgents is how many agents are in memory at most; 100 if 0.
	MaxActiveAgents int
	// Directory is what requests are about that name no other (CT 3.6).
	Directory string
	// SecretKey is what requests of the goose-server family must bring (GA 2.2); "test" if empty.
	SecretKey string
	// DefaultTimeout is how long an execution waits if its caller does not say; 30 s if 0.
	DefaultTimeout time.Duration
	// KeepaliveInterval is the time between two pings of a pending stream; 30 s if 0.
	KeepaliveInterval time.Duration
	// MaxBodyBytes is the size of the largest request body; 50 MiB if 0. A body is in memory while its request lasts,
	// two to three times.
	MaxBodyBytes int64
	// BodyGrace is how long a body may come as slowly as it likes; 10 s if 0 (decision S41).
	BodyGrace time.Duration
	// Bounds are what clients may register.
	Bounds clienttools.Bounds

	// Queue bounds what a stream holds for a slow reader; see [events.Options].
	Queue events.Options
	// ReadTimeout is how long a client may take for the head of a request, and for each piece of its body; 30 s if 0.
	ReadTimeout time.Duration
	// WriteTimeout is how long a client may take nothing of an answer that waits for it; 1 min if 0. Too short a time ends
	// the streams, and with them the tools, of clients that only pause.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection is kept open between requests; 2 min if 0.
	IdleTimeout time.Duration
	// StopTimeout is how long a stop may take before connections are cut; 4 s if 0.
	StopTimeout time.Duration
	// ExtensionGrace is how long a process of an extension may take to end, once when its input has ended, and once when it
	// was asked to; 1 s if 0 (decision X11).
	ExtensionGrace time.Duration

	// Log gets what a person should look at, and at the debug level what happens. Never bodies or query strings.
	// Nothing is logged if nil.
	Log *slog.Logger
}

// withDefaults returns the configuration with its defaults filled in, or all that is wrong with it.
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
	c.SecretKey = cmp.Or(c.SecretKey, "test")
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(problems...)
}

// maxBodiesBytes bounds what has come of the bodies of all requests (decision S40).
const maxBodiesBytes = 64 << 20

// A Server is an agent server. Sessions and settings are in its directories; the clients of tools, and what happens, are in
// memory. It keeps files open until it has served.
type Server struct {
	config   Config
	bus      *events.Bus
	registry *clienttools.Registry
	goose    *goose
	http     *http.Server
}

// New returns a server that does not serve yet. Its error names every mistake in the configuration, or says what cannot be
// opened.
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
	registry := clienttools.NewRegistry(bus, config.Bounds)
	streams := &events.Streams{Bus: bus, Log: config.Log}
	handler := router{
		operations: operations{
			clientToolHandlers: &clienttools.Handlers{
				Registry:       registry,
				Streams:        streams,
				DefaultTimeout: config.DefaultTimeout,
				Keepalive:      config.KeepaliveInterval,
			},
			eventHandlers:       &events.Handlers{Streams: streams, Keepalive: config.KeepaliveInterval},
			sessionHandlers:     goose.sessionHandlers(config),
			agentHandlers:       goose.agentHandlers(config),
			replyHandlers:       goose.replyHandlers(config),
			diagnosticsHandlers: goose.diagnosticsHandlers(config),
		},
		directory: config.Directory,
		key:       auth.NewKey(config.SecretKey),
		bodies: body.Limits{
			MaxBytes: config.MaxBodyBytes,
			Grace:    config.BodyGrace,
			Stall:    config.ReadTimeout,
			InFlight: body.NewInFlight(maxBodiesBytes),
		},
		bounds: config.Bounds,
		log:    config.Log,
	}.handler()
	return &Server{
		config:   config,
		bus:      bus,
		registry: registry,
		goose:    goose,
		http: &http.Server{
			Handler:           handler,
			ConnContext:       conn.Context,
			ConnState:         conn.State,
			ReadHeaderTimeout: config.ReadTimeout,
			IdleTimeout:       config.IdleTimeout,
			MaxHeaderBytes:    1 << 20,
			// There is no WriteTimeout: it would cut streams and long executions. See package conn.

			// `OPTIONS *` is answered like any other OPTIONS, with the CORS headers.
			DisableGeneralOptionsHandler: true,
			ErrorLog:                     slog.NewLogLogger(config.Log.Handler(), slog.LevelWarn),
		},
	}, nil
}
