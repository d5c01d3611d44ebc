package server

import (
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/engine/agentpool"
	"github.com/lockstep-dev/lockstep/server/engine/hints"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/handlers/reply"
)

func (g *goose) replyHandlers(config Config) *reply.Handlers {
	ofReply := func(use func(string) (*agentpool.Agent, func())) func(string) (*turn.Agent, func()) {
		return func(sessionID string) (*turn.Agent, func()) {
			a, release := use(sessionID)
			return a.Agent, release
		}
	}
	return &reply.Handlers{Store: g.store, Turns: &turn.Service{
		Store:       g.store,
		Use:         ofReply(g.agents.Use),
		Stream:      ofReply(g.agents.Stream),
		Settings:    g.settings,
		Permissions: g.permissions,
		Providers:   g.providers,
		Hints: func(directory string) string {
			names, _ := g.settings.Setting("CONTEXT_FILE_NAMES")
			return hints.Read(hints.Names(names), config.Directories.Config, directory)
		},
		ReadRecipe: recipe.ReadFile,
		Background: g.background,
		Log:        config.Log,
	}}
}
