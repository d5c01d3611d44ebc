package server

import (
	"github.com/lockstep-dev/lockstep/server/agent"
	"github.com/lockstep-dev/lockstep/server/hints"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// replyHandlers are those of what models answer.
type replyHandlers = reply.Service

func (g *goose) replyHandlers(config Config) *replyHandlers {
	ofReply := func(use func(string) (*agent.Agent, func())) func(string) (*reply.Agent, func()) {
		return func(sessionID string) (*reply.Agent, func()) {
			a, release := use(sessionID)
			return a.Agent, release
		}
	}
	return &replyHandlers{
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
	}
}
