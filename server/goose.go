package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/hints"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/files/tempdir"
	"github.com/lockstep-dev/lockstep/server/handlers/agents"
	confighandlers "github.com/lockstep-dev/lockstep/server/handlers/config"
	"github.com/lockstep-dev/lockstep/server/handlers/diagnostics"
	"github.com/lockstep-dev/lockstep/server/handlers/providers"
	"github.com/lockstep-dev/lockstep/server/handlers/sessions"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/llm/prices"
	"github.com/lockstep-dev/lockstep/server/mcp/connector"
	"github.com/lockstep-dev/lockstep/server/mcp/osv"
	"github.com/lockstep-dev/lockstep/server/mcp/platform"
	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
	"github.com/lockstep-dev/lockstep/server/mcp/signin"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// goose is the state of the goose-server family, on disk and in memory.
type goose struct {
	store       *store.Store
	settings    *settings.Settings
	permissions *permission.Permissions
	agents      *turn.Pool
	clients     toolbox.Clients
	providers   *llm.Factory
	transport   *http.Transport
	background  *turn.Background
	prices      *prices.Prices
	fetches     *turn.Background    // of prices, which end first
	guard       *processgroup.Guard // ends the processes of extensions and hooks with the server
	hooks       *hooks.Hooks
	signIns     *signin.SignIns

	noGrace  chan struct{} // see endGrace
	endGrace func()        // closes noGrace: extensions that are ending are killed at once
}

// newGoose creates the directories and opens the database and the settings in them (GA 1.5).
func newGoose(config Config) (*goose, error) {
	if err := config.Directories.Make(); err != nil {
		return nil, err
	}
	g := &goose{
		settings:    settings.New(config.Directories.Config, config.Env, config.Log),
		permissions: permission.New(config.Directories.Config),
		transport:   llm.NewTransport(),
		background:  turn.NewBackground(config.Log),
		fetches:     turn.NewBackground(config.Log),
		noGrace:     make(chan struct{}),
	}
	g.settings.SetEnvironment(config.Environment)
	if len(config.Guard) > 0 {
		g.guard = processgroup.NewGuard(config.Guard...)
	}
	g.hooks = hooks.New(config.Hooks, hooks.Options{Environment: config.Environment, Stderr: config.HookErrors, Guard: g.guard, Log: config.Log})
	g.signIns = signin.New(signin.Options{
		Secrets: signInSecrets{g.settings}, Browser: config.env("GOOSE_OAUTH_BROWSER"), Directory: config.Directory, Environment: config.Environment,
		Pages: config.Pages, Log: config.Log,
	})
	g.endGrace = sync.OnceFunc(func() { close(g.noGrace) })
	g.providers = &llm.Factory{
		Settings:    g.settings,
		View:        func() llm.Settings { return g.settings.View() },
		Env:         llm.Lookup(config.Env),
		Definitions: definition.NewStore(filepath.Join(config.Directories.Config, "custom_providers")),
		Transport:   g.transport,
		Telemetry:   config.Telemetry,
		Logs:        llm.NewLogs(config.Directories.Logs(), config.Log),
		Log:         config.Log,
	}
	if config.Models != nil {
		g.providers.Transport = config.Models
	}
	g.prices = g.newPrices(config)
	if _, err := g.settings.Mapping(settings.Config); err != nil { // creates the file if it is missing
		config.Log.Warn("settings not read", "err", err)
	}
	var err error
	if g.store, err = store.Open(context.Background(), config.Directories.Sessions()); err != nil {
		return nil, err
	}
	if damage := g.store.Damage; damage != nil {
		config.Log.Error("sessions cannot be read", "err", damage)
	}
	for _, why := range g.store.LeftOut {
		config.Log.Warn("session of an older version not taken over", "err", why)
	}
	tempdir.Sweep(config.Log)
	g.providers.Logs.Sweep()
	connector := g.connector(config)
	g.agents = turn.NewPool(config.MaxActiveAgents, func(sessionID string) turn.Extensions { return connector.NewSet(sessionID) })
	g.store.Made = func(id string) { _ = g.agents.End(id, func() error { return nil }) } // drops an older agent with this ID (decision G30)
	return g, nil
}

// newPrices returns the prices of models. The request for their list has a connection of its own, and may be compressed:
// its body is bounded while it is read.
func (g *goose) newPrices(config Config) *prices.Prices {
	transport := config.Models
	if transport == nil {
		own := llm.NewTransport()
		own.DisableCompression, own.DisableKeepAlives = false, true
		transport = own
	}
	return prices.New(prices.Options{
		Address: config.env("GOOSE_PRICING_URL"), Directory: config.Directories.Cache, Transport: transport, Go: g.fetches.Go, Log: config.Log,
	})
}

// connector returns what connects agents to their extensions.
func (g *goose) connector(config Config) *connector.Connector {
	return &connector.Connector{
		Secrets:  g.settings,
		Settings: g.settings,
		Sessions: g.store,
		SetData: func(ctx context.Context, id string, data json.RawMessage) (bool, error) {
			return g.store.Update(ctx, id, store.SetExtensionData(data))
		},
		Skills:        config.skills(),
		SignIns:       g.signIns,
		Packages:      osv.New(config.env("OSV_ENDPOINT"), g.transport),
		Executable:    config.Executable,
		Guard:         g.guard,
		Directory:     config.Directory,
		Environment:   config.Environment,
		ClientVersion: config.env("GOOSE_MCP_CLIENT_VERSION"),
		TodoLimit:     platform.TodoLimit(config.env("GOOSE_TODO_MAX_CHARS")),
		Grace:         config.ExtensionGrace,
		NoGrace:       g.noGrace,
		Log:           config.Log,
	}
}

// env returns a variable of the environment, or "".
func (c Config) env(name string) string {
	value, _ := c.Env(name)
	return value
}

// signInSecrets stores the credentials of sign-ins among the other secrets.
type signInSecrets struct{ *settings.Settings }

func (s signInSecrets) SetSecret(key string, value json.RawMessage) error {
	return s.Change(settings.Secrets, key, func(jsonwire.Text) jsonwire.Text { return jsonwire.Text(value) })
}

// ownerOf returns the client to which a session belongs, or "" if there is none (CT 10.1).
func (g *goose) ownerOf(ctx context.Context, sessionID string) (clientID string, err error) {
	s, err := g.store.Session(ctx, sessionID)
	if errors.Is(err, session.ErrNotFound) {
		return "", nil
	}
	return s.ClientID(), err
}

// serverTools returns the server's own tools for a session, or nil if there is no such session (CT 14.1).
func (g *goose) serverTools(log *slog.Logger) func(ctx context.Context, sessionID string) (api.ServerToolList, error) {
	return func(ctx context.Context, sessionID string) (api.ServerToolList, error) {
		if _, err := g.store.Session(ctx, sessionID); errors.Is(err, session.ErrNotFound) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		agent, release := g.agents.Use(sessionID)
		defer release()
		tools, err := agent.Tools(ctx)
		if err != nil {
			log.WarnContext(ctx, "tools of extensions not listed", "err", err)
		}
		list := make(api.ServerToolList, len(tools))
		for i, tool := range tools {
			list[i] = api.ServerTool{ID: tool.Name, Description: tool.Description, Parameters: tool.Schema}
		}
		return list, nil
	}
}

// skills returns the directories with skills for all sessions (decision X30).
func (c Config) skills() (places []string) {
	if home, _ := c.Env("HOME"); home != "" {
		places = append(places, filepath.Join(home, ".claude", "skills"))
	}
	return append(places, filepath.Join(c.Directories.Config, "skills"))
}

// close closes connections and files. The goose cannot be used afterwards.
func (g *goose) close() error {
	g.fetches.Close()
	g.background.Close()
	g.signIns.Stop()
	g.agents.Close()
	g.guard.Close()
	g.settings.Close()
	g.signIns.Close() // its accesses to the secrets have ended
	g.transport.CloseIdleConnections()
	return g.store.Close()
}

// These aliases give the embedded handlers distinct field names.
type (
	sessionHandlers     = sessions.Handlers
	agentHandlers       = agents.Handlers
	configHandlers      = confighandlers.Handlers
	providerHandlers    = providers.Handlers
	diagnosticsHandlers = diagnostics.Handlers
)

func (g *goose) sessionHandlers(config Config) *sessionHandlers {
	return &sessionHandlers{Store: g.store, Agents: g.agents, RecipeDir: config.Directories.Recipes(), Log: config.Log}
}

func (g *goose) agentHandlers(config Config) *agentHandlers {
	return &agentHandlers{
		Store:       g.store,
		Agents:      g.agents,
		Clients:     g.clients,
		Providers:   g.providers,
		Settings:    g.settings,
		Permissions: g.permissions,
		Recipes:     &recipe.Library{Directories: config.recipeDirectories},
		RecipeDir:   config.Directories.Recipes(),
		Log:         config.Log,
	}
}

// recipeDirectories returns the directories to search for recipes (GA 11.1).
func (c Config) recipeDirectories() []string {
	dirs := []string{c.Directory}
	more, _ := c.Env("GOOSE_RECIPE_PATH")
	for _, dir := range filepath.SplitList(more) {
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.Directory, dir)
		}
		dirs = append(dirs, dir)
	}
	return append(dirs, c.Directories.Recipes(), filepath.Join(c.Directory, ".goose", "recipes"))
}

func (g *goose) diagnosticsHandlers(config Config) diagnosticsHandlers {
	return diagnosticsHandlers{Store: g.store, Directories: config.Directories, Log: config.Log}
}

var errNoDirectories = errors.New("server: Config.Directories is required")

// turns returns what answers users. The clients of g are known by now.
func (g *goose) turns(config Config) *turn.Service {
	return &turn.Service{
		Store:       g.store,
		Use:         g.agents.Use,
		Stream:      g.agents.Stream,
		Settings:    g.settings,
		Permissions: g.permissions,
		Providers:   g.providers,
		Clients:     g.clients,
		Hooks:       g.hooks,
		Hints: func(directory string) string {
			names, _ := g.settings.Setting("CONTEXT_FILE_NAMES")
			return hints.Read(hints.Names(names), config.Directories.Config, directory)
		},
		ReadRecipe: recipe.ReadFile,
		Background: g.background,
		Telemetry:  config.Telemetry,
		Log:        config.Log,
	}
}
