package server

import (
	"errors"

	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// replyHandlers are those of what models answer.
type replyHandlers = reply.Service

func (g *goose) replyHandlers(config Config) *replyHandlers {
	return &replyHandlers{
		Store: g.store,
		Use: func(sessionID string) (*reply.Agent, func()) {
			a, release := g.agents.Use(sessionID)
			return a.Agent, release
		},
		Settings:    g.settings,
		Permissions: g.permissions,
		Providers:   g.providers,
		ReadRecipe:  readRecipe,
		Background:  g.background,
		Log:         config.Log,
	}
}

// readRecipe reads the recipe of a slash command (GA 7.11). Recipes cannot be read from files yet, so such a command is
// ordinary text, as one whose file cannot be read.
func readRecipe(string) (recipe.Recipe, error) {
	return recipe.Recipe{}, errors.New("recipes cannot be read from files yet")
}
