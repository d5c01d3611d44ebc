package sessions

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/store"
)

// UpdateSessionUserRecipeValues answers PUT /sessions/{session_id}/user_recipe_values (GA 9.9). The values are stored
// even if the rest fails.
func (h *Handlers) UpdateSessionUserRecipeValues(ctx context.Context, request gen.UpdateSessionUserRecipeValuesRequestObject) (gen.UpdateSessionUserRecipeValuesResponseObject, error) {
	if _, err := h.Store.Update(ctx, request.SessionID, store.SetUserRecipeValues(request.Body.UserRecipeValues)); err != nil {
		return h.failedWith(ctx, "Values cannot be stored", err), nil
	}
	if _, refused := h.withRecipe(ctx, request.SessionID); refused != nil { // no agent is created without a recipe
		return refused, nil
	}
	a, release := h.Agents.Use(request.SessionID)
	defer release()
	rendered, refused := h.render(ctx, request.SessionID) // read again, because the session may have changed
	if refused != nil {
		return refused, nil
	}
	a.SetSubRecipes(rendered.SubRecipes)
	if rendered.Instructions != nil {
		a.Follow(*rendered.Instructions)
	}
	done := api.UpdateSessionUserRecipeValuesResponse{Recipe: api.Recipe(rendered)}
	return gen.UpdateSessionUserRecipeValues200JSONResponse{Of: response.Value(done)}, nil
}

// withRecipe returns a session, which must have a recipe.
func (h *Handlers) withRecipe(ctx context.Context, id string) (s session.Session, refused gen.UpdateSessionUserRecipeValuesResponseObject) {
	s, err := h.Store.Session(ctx, id)
	if errors.Is(err, session.ErrNotFound) {
		return s, h.failedWith(ctx, "Session not found", err)
	}
	if err != nil {
		return s, h.failedWith(ctx, "Session cannot be read", err)
	}
	if s.Recipe == nil {
		return s, gen.NotFoundWithMessageJSONResponse{Of: response.Message("Recipe not found")}
	}
	return s, nil
}

// render returns the recipe of a session with its values filled in.
func (h *Handlers) render(ctx context.Context, id string) (rendered recipe.Recipe, refused gen.UpdateSessionUserRecipeValuesResponseObject) {
	s, refused := h.withRecipe(ctx, id)
	if refused != nil {
		return rendered, refused
	}
	rendered, err := s.Recipe.Render(ctx, s.UserRecipeValues, h.RecipeDir)
	if errors.Is(err, recipe.ErrMissing) {
		return rendered, gen.UpdateSessionUserRecipeValues400JSONResponse{Of: response.Message("Missing required parameters")}
	}
	if err != nil {
		return rendered, gen.FailedWithMessageJSONResponse{Of: response.Message(err.Error())}
	}
	return rendered, nil
}

// failedWith is failed with a text for the client.
func (h *Handlers) failedWith(ctx context.Context, text string, err error) gen.FailedWithMessageJSONResponse {
	h.failed(ctx, err)
	return gen.FailedWithMessageJSONResponse{Of: response.Message(text)}
}
