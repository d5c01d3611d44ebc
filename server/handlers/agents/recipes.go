package agents

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// chooseRecipe returns the recipe that a start asks for, or nil if it asks for none. A deeplink has precedence over
// an ID, and an ID over a recipe (GA 6.1).
func (h *Handlers) chooseRecipe(request api.StartAgentRequest) (*recipe.Recipe, gen.StartAgentResponseObject) {
	switch {
	case request.RecipeDeeplink != nil:
		chosen, err := recipe.FromDeeplink(*request.RecipeDeeplink)
		if err != nil {
			return nil, gen.StartAgent400JSONResponse{Of: response.Message("Failed to decode recipe deeplink")}
		}
		return &chosen, nil
	case request.RecipeID != nil:
		chosen, err := h.Recipes.Get(*request.RecipeID)
		if errors.Is(err, recipe.ErrUnknown) {
			return nil, notFound("Recipe not found: " + excerpt.Quoted(*request.RecipeID))
		}
		if err != nil {
			return nil, failed("Failed to load recipe: " + err.Error())
		}
		return &chosen, nil
	}
	return (*recipe.Recipe)(request.Recipe), nil
}

// UpdateFromSession answers POST /agent/update_from_session (GA 6.3).
func (h *Handlers) UpdateFromSession(ctx context.Context, request gen.UpdateFromSessionRequestObject) (gen.UpdateFromSessionResponseObject, error) {
	id := request.Body.SessionID
	if _, err := h.Store.Session(ctx, id); err != nil { // no agent is created for a missing session
		return failed("Failed to get session: " + h.whyNotRead(ctx, err)), nil
	}
	a, release := h.Agents.Use(id)
	defer release()
	s, err := h.Store.Session(ctx, id)
	if err != nil { // it was deleted in the meantime
		return failed("Failed to get session: " + h.whyNotRead(ctx, err)), nil
	}
	if err := h.follow(ctx, a, s); err != nil {
		return failed(err.Error()), nil
	}
	return gen.DoneResponse{}, nil
}

// follow makes an agent follow the recipe of its session. Without a recipe, or while a value is missing, the agent
// forgets an earlier one (decision G31). After an error the agent is unchanged.
func (h *Handlers) follow(ctx context.Context, a *turn.Agent, s session.Session) error {
	var rendered recipe.Recipe
	if s.Recipe != nil {
		var err error
		if rendered, err = s.Recipe.Render(ctx, s.UserRecipeValues, h.RecipeDir); err != nil && !errors.Is(err, recipe.ErrMissing) {
			return err
		}
	}
	var output *turn.FinalOutput
	if rendered.Response != nil {
		var err error
		if output, err = turn.NewFinalOutput(rendered.Response.JSONSchema); err != nil {
			return err
		}
	}
	a.SetSubRecipes(rendered.SubRecipes)
	a.SetOutput(output)
	if rendered.Instructions != nil {
		a.Follow(*rendered.Instructions)
	} else {
		a.InDesktop()
	}
	return nil
}
