// Package config handles the operations on settings, secrets and permissions (GA 10).
package config

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Handlers implement the operations under /config of the contract. Their request bodies are decoded by [Bodies]. No log
// line of them has a value.
type Handlers struct {
	Settings    *settings.Settings
	Permissions *permission.Permissions
	Log         *slog.Logger
}

// GetConfig answers GET /config (GA 10.1).
func (h *Handlers) GetConfig(ctx context.Context, _ gen.GetConfigRequestObject) (gen.GetConfigResponseObject, error) {
	mapping, err := h.Settings.Mapping(settings.Config)
	if err != nil {
		h.Log.ErrorContext(ctx, "configuration not read", "err", err)
		return gen.GetConfig422Response{}, nil
	}
	return gen.GetConfig200JSONResponse{Of: response.Value(api.ConfigResponse{Config: json.RawMessage(mapping)})}, nil
}

// modelLimits is the key under which clients read the limits of models (decision G43).
const modelLimits = "model-limits"

// ReadConfig answers POST /config/read (GA 10.2).
func (h *Handlers) ReadConfig(ctx context.Context, request gen.ReadConfigRequestObject) (gen.ReadConfigResponseObject, error) {
	if request.Body.Key == modelLimits {
		return value(limits()), nil
	}
	found, err := h.Settings.Find(fileOf(request.Body.IsSecret), request.Body.Key)
	if err != nil {
		h.Log.ErrorContext(ctx, "value not read", "err", err)
		return gen.FailedResponse{}, nil
	}
	switch {
	case found == nil:
		return value(jsonwire.Text("null")), nil
	case request.Body.IsSecret:
		return value(masked(jsonwire.Text(found))), nil
	}
	return value(jsonwire.Text(found)), nil
}

func value(json jsonwire.Text) gen.ReadConfig200JSONResponse {
	return gen.ReadConfig200JSONResponse{Of: response.Value(api.AnyValue(json))}
}

func fileOf(isSecret bool) settings.File {
	if isSecret {
		return settings.Secrets
	}
	return settings.Config
}

func limits() jsonwire.Text {
	w := jsonwire.NewWriter(nil)
	jsonwire.Array(w, llm.Limits, func(limit llm.Limit, w *jsonwire.Writer) {
		w.Open('{')
		w.Name("pattern").String(limit.Pattern)
		w.Name("context_limit").Int(limit.Tokens)
		w.Close('}')
	})
	return w.Text()
}

// maxShown is the maximum number of characters of a secret that a client sees. Short secrets show less: half of them.
const maxShown = 8

// masked returns what a client sees of a secret.
func masked(secret jsonwire.Text) jsonwire.Text {
	text := []rune(string(secret))
	if secret.Kind() == "string" {
		text = []rune(secret.Str())
	}
	shown := min(maxShown, len(text)/2)
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("maskedValue").String(string(text[:shown]) + strings.Repeat("*", len(text)-shown))
	w.Close('}')
	return w.Text()
}

// UpsertConfig answers POST /config/upsert (GA 10.3).
func (h *Handlers) UpsertConfig(ctx context.Context, request gen.UpsertConfigRequestObject) (gen.UpsertConfigResponseObject, error) {
	b := request.Body
	err := h.Settings.Change(fileOf(b.IsSecret), b.Key, func(jsonwire.Text) jsonwire.Text { return jsonwire.Text(b.Value) })
	if err != nil {
		h.Log.ErrorContext(ctx, "value not stored", "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.UpsertConfig200JSONResponse{Of: response.Value("Upserted key " + b.Key)}, nil
}

// RemoveConfig answers POST /config/remove (GA 10.4).
func (h *Handlers) RemoveConfig(ctx context.Context, request gen.RemoveConfigRequestObject) (gen.RemoveConfigResponseObject, error) {
	err := h.Settings.Change(fileOf(request.Body.IsSecret), request.Body.Key, func(jsonwire.Text) jsonwire.Text { return nil })
	if err != nil {
		h.Log.ErrorContext(ctx, "value not removed", "err", err)
		return gen.RemoveConfig404Response{}, nil
	}
	return gen.RemoveConfig200JSONResponse{Of: response.Value("Removed key " + request.Body.Key)}, nil
}

// UpsertPermissions answers POST /config/permissions (GA 10.12).
func (h *Handlers) UpsertPermissions(ctx context.Context, request gen.UpsertPermissionsRequestObject) (gen.UpsertPermissionsResponseObject, error) {
	var decisions []permission.Decision
	for _, p := range request.Body.ToolPermissions {
		decisions = append(decisions, permission.Decision{Tool: p.ToolName, Level: permission.Level(p.Permission)})
	}
	if err := h.Permissions.Set(decisions...); err != nil {
		h.Log.ErrorContext(ctx, "permissions not stored", "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.UpsertPermissions200JSONResponse{Of: response.Value("Permissions updated successfully")}, nil
}
