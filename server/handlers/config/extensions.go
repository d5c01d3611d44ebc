package config

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// GetExtensions answers GET /config/extensions (GA 10.9).
func (h *Handlers) GetExtensions(context.Context, gen.GetExtensionsRequestObject) (gen.GetExtensionsResponseObject, error) {
	setting, _ := h.Settings.Setting("extensions")
	list := []api.ExtensionEntry{}
	for _, entry := range extension.Configured(setting) {
		list = append(list, api.ExtensionEntry(jsonwire.Of(entry)))
	}
	return gen.GetExtensions200JSONResponse{Of: response.Value(api.ExtensionResponse{Extensions: list})}, nil
}

// AddExtensionConfig answers POST /config/extensions (GA 10.10).
func (h *Handlers) AddExtensionConfig(ctx context.Context, request gen.AddExtensionConfigRequestObject) (gen.AddExtensionConfigResponseObject, error) {
	config, err := decode.Text(request.Body.Config, extension.Decode)
	if err != nil {
		return nil, err
	}
	text, key := "Added extension ", extension.Key(request.Body.Name)
	h.changeExtensions(ctx, func(old json.RawMessage) json.RawMessage {
		if slices.ContainsFunc(extension.Configured(old), func(e extension.Entry) bool { return extension.Key(e.Config.Name) == key }) {
			text = "Updated extension "
		}
		return extension.Stored(old, extension.Entry{Enabled: request.Body.Enabled, Config: config})
	})
	return gen.AddExtensionConfig200JSONResponse{Of: response.Value(text + request.Body.Name)}, nil
}

// RemoveExtensionConfig answers DELETE /config/extensions/{name} (GA 10.11).
func (h *Handlers) RemoveExtensionConfig(ctx context.Context, request gen.RemoveExtensionConfigRequestObject) (gen.RemoveExtensionConfigResponseObject, error) {
	key := extension.Key(request.Name)
	h.changeExtensions(ctx, func(old json.RawMessage) json.RawMessage { return extension.Removed(old, key) })
	return gen.RemoveExtensionConfig200JSONResponse{Of: response.Value("Removed extension " + request.Name)}, nil
}

// changeExtensions changes the extensions in the file, whatever the environment says. Clients do not learn of failures
// (decision G49).
func (h *Handlers) changeExtensions(ctx context.Context, change func(old json.RawMessage) json.RawMessage) {
	err := h.Settings.Change(settings.Config, "extensions", func(old jsonwire.Text) jsonwire.Text {
		return jsonwire.Text(change(json.RawMessage(old)))
	})
	if err != nil {
		h.Log.ErrorContext(ctx, "extensions not stored", "err", err)
	}
}

// GetSlashCommands answers GET /config/slash_commands (GA 10.13).
func (h *Handlers) GetSlashCommands(context.Context, gen.GetSlashCommandsRequestObject) (gen.GetSlashCommandsResponseObject, error) {
	setting, _ := h.Settings.Setting("slash_commands")
	var list []api.SlashCommand
	for _, c := range recipe.Commands(jsonwire.Text(setting)) {
		list = append(list, api.SlashCommand{Command: c.Name, Help: c.Path, CommandType: api.CommandTypeRecipe})
	}
	list = append(list, api.SlashCommand{
		Command: "compact", Help: "Compact the current conversation to save tokens", CommandType: api.CommandTypeBuiltin,
	})
	return gen.GetSlashCommands200JSONResponse{Of: response.Value(api.SlashCommandsResponse{Commands: list})}, nil
}
