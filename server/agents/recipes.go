package agents

import (
	"context"
	"errors"
	"net/http"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/agent"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// chooseRecipe returns the recipe that a start asks for, nil if it asks for none: a deeplink comes before an id, an id
// before a recipe (GA 6.1).
func (h *Handlers) chooseRecipe(request startRequest) (*recipe.Recipe, gen.StartAgentResponseObject) {
	switch {
	case request.recipeDeeplink != nil:
		chosen, err := recipe.FromDeeplink(*request.recipeDeeplink)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "Failed to decode recipe deeplink")
		}
		return &chosen, nil
	case request.recipeID != nil:
		chosen, err := h.Recipes.Get(*request.recipeID)
		if errors.Is(err, recipe.ErrUnknown) {
			return nil, refuse(http.StatusNotFound, "Recipe not found: "+*request.recipeID)
		}
		if err != nil {
			return nil, refuse(http.StatusInternalServerError, "Failed to load recipe: "+err.Error())
		}
		return &chosen, nil
	}
	return request.recipe, nil
}

// UpdateFromSession answers POST /agent/update_from_session (GA 6.3).
func (h *Handlers) UpdateFromSession(ctx context.Context, _ gen.UpdateFromSessionRequestObject) (gen.UpdateFromSessionResponseObject, error) {
	id := body.Of[sessionRequest](ctx).sessionID
	s, err := h.Store.Session(ctx, id)
	if err != nil {
		return refuse(http.StatusInternalServerError, "Failed to get session: "+h.whyNotRead(err)), nil
	}
	a, release := h.Agents.Use(id)
	defer release()
	if s, err = h.Store.Session(ctx, id); err != nil { // it may have been deleted meanwhile
		return refuse(http.StatusInternalServerError, "Failed to get session: "+h.whyNotRead(err)), nil
	}
	if s.Recipe != nil {
		rendered, err := s.Recipe.Render(s.UserRecipeValues, h.RecipeDir)
		if err == nil {
			err = install(a, rendered)
		}
		if err != nil && !errors.Is(err, recipe.ErrMissing) {
			return refuse(http.StatusInternalServerError, err.Error()), nil
		}
	}
	a.InDesktop() // which an agent that follows a recipe is not told
	return done, nil
}

// install gives an agent what a recipe says.
func install(a *agent.Agent, r recipe.Recipe) error {
	var output *reply.FinalOutput
	if r.Response != nil && r.Response.JSONSchema != nil {
		var err error
		if output, err = reply.NewFinalOutput(r.Response.JSONSchema); err != nil {
			return err
		}
	}
	a.SetSubRecipes(r.SubRecipes)
	a.SetOutput(output)
	if r.Instructions != nil {
		a.Follow(*r.Instructions)
	}
	return nil
}
