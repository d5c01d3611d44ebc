package agents

import (
	"context"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// AddExtension answers POST /agent/add_extension (GA 6.7).
func (h *Handlers) AddExtension(ctx context.Context, request gen.AddExtensionRequestObject) (gen.AddExtensionResponseObject, error) {
	config, err := decode.Text(request.Body.Config, extension.Decode)
	if err != nil {
		return nil, err
	}
	a, release := h.Agents.Use(request.Body.SessionID)
	defer release()
	if err := a.Extensions.Add(ctx, config); err != nil {
		h.Log.Warn("extension not added", "extension", config.Name, "err", err)
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
