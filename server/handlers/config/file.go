package config

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// InitConfig answers POST /config/init (GA 10.5).
func (h *Handlers) InitConfig(context.Context, gen.InitConfigRequestObject) (gen.InitConfigResponseObject, error) {
	text := "No init-config.yaml found, using default configuration"
	if h.Settings.Exists() {
		text = "Config already exists"
	}
	return gen.InitConfig200JSONResponse{Of: response.Value(text)}, nil
}

// ValidateConfig answers GET /config/validate (GA 10.6).
func (h *Handlers) ValidateConfig(ctx context.Context, _ gen.ValidateConfigRequestObject) (gen.ValidateConfigResponseObject, error) {
	text := "Config file is valid"
	err := h.Settings.Validate()
	switch {
	case files.IsMissing(err):
		text = "Config file does not exist"
	case errors.Is(err, settings.ErrNotYAML):
		h.Log.InfoContext(ctx, "configuration not valid", "err", err)
		return gen.ValidateConfig422Response{}, nil
	case err != nil:
		h.Log.ErrorContext(ctx, "configuration not read", "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.ValidateConfig200JSONResponse{Of: response.Value(text)}, nil
}

// BackupConfig answers POST /config/backup (GA 10.7).
func (h *Handlers) BackupConfig(ctx context.Context, _ gen.BackupConfigRequestObject) (gen.BackupConfigResponseObject, error) {
	path, err := h.Settings.Backup()
	if err != nil {
		h.Log.ErrorContext(ctx, "configuration not backed up", "err", err)
		return gen.FailedResponse{}, nil
	}
	path = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) // decision G46
	return gen.BackupConfig200JSONResponse{Of: response.Value(fmt.Sprintf(`Copied "%s" to "%s.bak"`, path, path))}, nil
}

// RecoverConfig answers POST /config/recover (GA 10.8).
func (h *Handlers) RecoverConfig(ctx context.Context, _ gen.RecoverConfigRequestObject) (gen.RecoverConfigResponseObject, error) {
	mapping, err := h.Settings.Mapping(settings.Config)
	if err != nil {
		h.Log.ErrorContext(ctx, "configuration not read", "err", err)
		return gen.FailedResponse{}, nil
	}
	var keys []string
	for key := range mapping.Members() {
		keys = append(keys, key.Str())
	}
	text := "Config recovery completed, but no data was recoverable. Starting with empty configuration."
	if len(keys) > 0 {
		text = fmt.Sprintf("Config recovery completed. Recovered %d keys: %s", len(keys), strings.Join(keys, ", "))
	}
	return gen.RecoverConfig200JSONResponse{Of: response.Value(text)}, nil
}
