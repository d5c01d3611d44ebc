package agents

import (
	"context"
	"net/http"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/body"
)

// AddExtension answers POST /agent/add_extension (GA 6.7).
func (h *Handlers) AddExtension(ctx context.Context, _ gen.AddExtensionRequestObject) (gen.AddExtensionResponseObject, error) {
	request := body.Of[addRequest](ctx)
	a, release := h.Agents.Use(request.sessionID)
	defer release()
	if err := a.Extensions.Add(ctx, request.config); err != nil {
		h.Log.Warn("extension not added", "extension", request.config.Name, "err", err)
		return refuse(http.StatusInternalServerError, "Failed to add extension: "+err.Error()), nil
	}
	return done, nil
}

// RemoveExtension answers POST /agent/remove_extension (GA 6.8).
func (h *Handlers) RemoveExtension(ctx context.Context, _ gen.RemoveExtensionRequestObject) (gen.RemoveExtensionResponseObject, error) {
	request := body.Of[removeRequest](ctx)
	a, release := h.Agents.Use(request.sessionID)
	defer release()
	a.Extensions.Remove(request.name)
	return done, nil
}
