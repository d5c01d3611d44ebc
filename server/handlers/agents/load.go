package agents

import (
	"context"
	"errors"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/store"
)

// A problem is an error whose text is for clients.
type problem string

func (p problem) Error() string { return string(p) }

// loadProvider gives an agent the provider and the model of its session, or else those of the settings, and stores
// them in the session. Its errors are shown to clients.
func (h *Handlers) loadProvider(ctx context.Context, a *turn.Agent, s session.Session) error {
	name, ok := "", s.ProviderName != nil
	if ok {
		name = *s.ProviderName
	} else if name, ok = h.Settings.Text("GOOSE_PROVIDER"); !ok {
		return problem("Could not configure agent: missing provider")
	}
	config, err := h.modelOf(s)
	if err != nil {
		return err
	}
	models, err := llm.ChooseModels(h.Settings, h.Providers, name, config)
	if invalid, ok := errors.AsType[llm.InvalidModel](err); ok {
		return invalidModel(invalid)
	}
	if err != nil {
		return problem("Could not create provider: " + err.Error())
	}
	a.SetModels(models)
	if _, err := h.Store.Update(ctx, s.ID, store.SetModel(name, models.Worker.Config())...); err != nil {
		h.Log.ErrorContext(ctx, "provider not stored", "err", err)
		return problem("Could not configure agent: Session cannot be written")
	}
	return nil
}

func (h *Handlers) modelOf(s session.Session) (modelconfig.Config, error) {
	if s.ModelConfig != nil {
		return *s.ModelConfig, nil
	}
	model, ok := h.Settings.Text("GOOSE_MODEL")
	if !ok {
		return modelconfig.Config{}, problem("Could not configure agent: missing model")
	}
	config, err := h.Providers.Config(model)
	if err != nil {
		return config, invalidModel(err)
	}
	return config, nil
}

func invalidModel(err error) error {
	return problem("Could not configure agent: invalid model " + err.Error())
}

// loadExtensions connects an agent to all extensions that the settings enable, concurrently. Failures are only
// logged.
func (h *Handlers) loadExtensions(ctx context.Context, a *turn.Agent) {
	var wg sync.WaitGroup
	for _, config := range h.enabledExtensions() {
		wg.Go(func() {
			if err := a.Extensions.Add(ctx, config); err != nil {
				h.Log.WarnContext(ctx, "extension not loaded", "extension", config.Name, "err", err)
			}
		})
	}
	wg.Wait()
}

// enabledExtensions returns the extensions that the settings enable, in order (decision G25).
func (h *Handlers) enabledExtensions() []extension.Config {
	raw, err := h.Settings.Setting("extensions")
	if err != nil {
		return nil
	}
	var enabled []extension.Config
	for _, entry := range extension.Configured(raw) {
		if entry.Enabled {
			enabled = append(enabled, entry.Config)
		}
	}
	return enabled
}
