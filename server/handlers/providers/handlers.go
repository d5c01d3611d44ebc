// Package providers handles the operations on providers of models (GA 10.14 to 10.22), and on the prices of their models
// (GA 16.2).
package providers

import (
	"context"
	"errors"
	"log/slog"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/prices"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Handlers implement the operations on providers of the contract. Their request bodies are decoded by [Bodies]. No log
// line of them has a key.
type Handlers struct {
	Settings  *settings.Settings
	Providers *llm.Factory
	Prices    *prices.Prices
	Log       *slog.Logger
}

// GetProviders answers GET /config/providers (GA 10.14).
func (h *Handlers) GetProviders(context.Context, gen.GetProvidersRequestObject) (gen.GetProvidersResponseObject, error) {
	list, err := response.Encoded[[]api.ProviderDetails](func(w *jsonwire.Writer) error {
		jsonwire.Array(w, h.Providers.Providers(), llm.Details.Write)
		return nil
	})
	return gen.GetProviders200JSONResponse{Of: list}, err
}

// GetProviderModels answers GET /config/providers/{name}/models (GA 10.15).
func (h *Handlers) GetProviderModels(ctx context.Context, request gen.GetProviderModelsRequestObject) (gen.GetProviderModelsResponseObject, error) {
	names, err := h.Providers.ListModels(ctx, request.Name)
	switch {
	case errors.Is(err, llm.ErrRejected):
		return gen.GetProviderModels400Response{}, nil
	case errors.Is(err, llm.ErrRateLimited):
		return gen.GetProviderModels429Response{}, nil
	case err != nil:
		h.Log.WarnContext(ctx, "models of a provider not listed", "provider", request.Name, "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.GetProviderModels200JSONResponse{Of: response.Value(names)}, nil
}

// CheckProvider answers POST /config/check_provider (GA 10.16).
func (h *Handlers) CheckProvider(_ context.Context, request gen.CheckProviderRequestObject) (gen.CheckProviderResponseObject, error) {
	if err := h.Providers.Check(request.Body.Provider); err != nil {
		return gen.CheckProvider400TextResponse{Body: err.Error()}, nil
	}
	return gen.DoneResponse{}, nil
}

// SetProvider answers POST /config/set_provider (GA 10.17).
func (h *Handlers) SetProvider(ctx context.Context, request gen.SetProviderRequestObject) (gen.SetProviderResponseObject, error) {
	if err := h.Providers.Check(request.Body.Provider); err != nil {
		return gen.SetProvider400TextResponse{Body: err.Error()}, nil
	}
	chosen := jsonwire.Pairs{{Name: "GOOSE_PROVIDER", Value: request.Body.Provider}, {Name: "GOOSE_MODEL", Value: request.Body.Model}}
	if err := h.Settings.SetTexts(chosen); err != nil {
		h.Log.ErrorContext(ctx, "provider not stored", "err", err)
		return gen.SetProvider400TextResponse{Body: "Internal error"}, nil
	}
	return gen.DoneResponse{}, nil
}

// putSecret stores a text as a secret.
func (h *Handlers) putSecret(key, value string) error {
	return h.Settings.Change(settings.Secrets, key, func(jsonwire.Text) jsonwire.Text { return jsonwire.AppendQuoted(nil, value) })
}

// DetectProvider answers POST /config/detect-provider (GA 10.18).
func (h *Handlers) DetectProvider(ctx context.Context, request gen.DetectProviderRequestObject) (gen.DetectProviderResponseObject, error) {
	found, ok := h.Providers.Detect(ctx, request.Body.APIKey)
	if !ok {
		return gen.DetectProvider404Response{}, nil
	}
	return gen.DetectProvider200JSONResponse{Of: response.Value(found)}, nil
}

// CreateCustomProvider answers POST /config/custom-providers (GA 10.19).
func (h *Handlers) CreateCustomProvider(ctx context.Context, request gen.CreateCustomProviderRequestObject) (gen.CreateCustomProviderResponseObject, error) {
	id, err := h.Providers.Definitions.Create(request.Body, func(name string) error {
		return h.putSecret(name, request.Body.APIKey)
	})
	if err != nil {
		h.Log.ErrorContext(ctx, "custom provider not stored", "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.CreateCustomProvider200JSONResponse{Of: response.Value("Custom provider added - ID: " + id)}, nil
}

// GetCustomProvider answers GET /config/custom-providers/{id} (GA 10.19).
func (h *Handlers) GetCustomProvider(ctx context.Context, request gen.GetCustomProviderRequestObject) (gen.GetCustomProviderResponseObject, error) {
	d, isFile, err := h.Providers.Definitions.Find(request.ID)
	if err != nil {
		h.Log.InfoContext(ctx, "no definition of a provider", "err", err)
		return gen.GetCustomProvider404Response{}, nil
	}
	return gen.GetCustomProvider200JSONResponse{Of: response.Value(api.LoadedProvider{Config: d, IsEditable: isFile})}, nil
}

// UpdateCustomProvider answers PUT /config/custom-providers/{id} (GA 10.19).
func (h *Handlers) UpdateCustomProvider(ctx context.Context, request gen.UpdateCustomProviderRequestObject) (gen.UpdateCustomProviderResponseObject, error) {
	err := h.Providers.Definitions.Update(request.ID, request.Body, func(name string) error {
		return h.putSecret(name, request.Body.APIKey)
	})
	if err != nil {
		h.Log.ErrorContext(ctx, "custom provider not changed", "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.UpdateCustomProvider200JSONResponse{Of: response.Value("Updated custom provider: " + request.ID)}, nil
}

// RemoveCustomProvider answers DELETE /config/custom-providers/{id} (GA 10.19).
func (h *Handlers) RemoveCustomProvider(ctx context.Context, request gen.RemoveCustomProviderRequestObject) (gen.RemoveCustomProviderResponseObject, error) {
	if err := h.Providers.Definitions.Remove(request.ID, h.Settings.RemoveSecret); err != nil {
		h.Log.ErrorContext(ctx, "custom provider not removed", "err", err)
		return gen.FailedResponse{}, nil
	}
	return gen.RemoveCustomProvider200JSONResponse{Of: response.Value("Removed custom provider: " + request.ID)}, nil
}

// GetPricing answers POST /config/pricing (GA 16.2).
func (h *Handlers) GetPricing(ctx context.Context, request gen.GetPricingRequestObject) (gen.GetPricingResponseObject, error) {
	if only := request.Body.ConfiguredOnly; only != nil && !*only {
		return gen.GetPricing200JSONResponse{Of: response.Shared[api.PricingResponse](h.Prices.All(ctx))}, nil
	}
	found := h.Prices.Configured(h.Providers.Providers())
	return gen.GetPricing200JSONResponse{Of: response.Value(api.PricingResponse{Pricing: found, Source: api.PricingResponseSourceOpenrouter})}, nil
}
