package sessions

import (
	"context"
	"errors"
	"net/http"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// UpdateSessionUserRecipeValues answers PUT /sessions/{session_id}/user_recipe_values (GA 9.9). The values are stored
// whatever comes of the rest.
func (h *Handlers) UpdateSessionUserRecipeValues(ctx context.Context, request gen.UpdateSessionUserRecipeValuesRequestObject) (gen.UpdateSessionUserRecipeValuesResponseObject, error) {
	values := body.Of[valuesRequest](ctx).values
	if _, err := h.Store.Update(ctx, request.SessionID, store.SetUserRecipeValues(values)); err != nil {
		return h.failedWith(http.StatusInternalServerError, "Values cannot be stored", err), nil
	}
	if _, refused := h.withRecipe(ctx, request.SessionID); refused != nil { // no agent is made for it
		return refused, nil
	}
	a, release := h.Agents.Use(request.SessionID)
	defer release()
	rendered, refused := h.render(ctx, request.SessionID) // read again: the session may be another one meanwhile
	if refused != nil {
		return refused, nil
	}
	a.SetSubRecipes(rendered.SubRecipes)
	if rendered.Instructions != nil {
		a.Follow(*rendered.Instructions)
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("recipe")
	rendered.Write(w)
	w.Close('}')
	return reply{answer.JSON{Status: http.StatusOK, Body: w.Text()}}, nil
}

// withRecipe returns a session that has a recipe.
func (h *Handlers) withRecipe(ctx context.Context, id string) (s session.Session, refused gen.UpdateSessionUserRecipeValuesResponseObject) {
	s, err := h.Store.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return s, h.failedWith(http.StatusInternalServerError, "Session not found", err)
	}
	if err != nil {
		return s, h.failedWith(http.StatusInternalServerError, "Session cannot be read", err)
	}
	if s.Recipe == nil {
		return s, reply{answer.Message(http.StatusNotFound, "Recipe not found")}
	}
	return s, nil
}

// render returns the recipe of a session with its values.
func (h *Handlers) render(ctx context.Context, id string) (rendered recipe.Recipe, refused gen.UpdateSessionUserRecipeValuesResponseObject) {
	s, refused := h.withRecipe(ctx, id)
	if refused != nil {
		return rendered, refused
	}
	rendered, err := s.Recipe.Render(ctx, s.UserRecipeValues, h.RecipeDir)
	if errors.Is(err, recipe.ErrMissing) {
		return rendered, reply{answer.Message(http.StatusBadRequest, "Missing required parameters")}
	}
	if err != nil {
		return rendered, reply{answer.Message(http.StatusInternalServerError, err.Error())}
	}
	return rendered, nil
}

// failedWith is like failed, with a text for the client.
func (h *Handlers) failedWith(status int, text string, err error) reply {
	h.failed(status, err)
	return reply{answer.Message(status, text)}
}
