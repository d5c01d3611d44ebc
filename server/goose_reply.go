package server

import (
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/engine/hints"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/handlers/reply"
)

func (g *goose) replyHandlers(config Config) *reply.Handlers {
	return &reply.Handlers{Store: g.store, Turns: &turn.Service{
		Store:       g.store,
		Use:         g.agents.Use,
		Stream:      g.agents.Stream,
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
