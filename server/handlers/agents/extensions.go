package agents

import (
	"context"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
)

// AddExtension answers POST /agent/add_extension (GA 6.7).
func (h *Handlers) AddExtension(ctx context.Context, _ gen.AddExtensionRequestObject) (gen.AddExtensionResponseObject, error) {
	request, err := body.Of[addRequest](ctx)
	if err != nil {
		return nil, err
	}
	a, release := h.Agents.Use(request.sessionID)
	defer release()
	if err := a.Extensions.Add(ctx, request.config); err != nil {
		h.Log.Warn("extension not added", "extension", request.config.Name, "err", err)
		return failed("Failed to add extension: " + err.Error()), nil
	}
	return gen.DoneResponse{}, nil
}

// RemoveExtension answers POST /agent/remove_extension (GA 6.8).
func (h *Handlers) RemoveExtension(_ context.Context, request gen.RemoveExtensionRequestObject) (gen.RemoveExtensionResponseObject, error) {
	a, release := h.Agents.Use(request.Body.SessionID)
	defer release()
	a.Extensions.Remove(request.Body.Name)
	return gen.DoneResponse{}, nil
}
