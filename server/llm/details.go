package llm

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Details describe a provider. They are an [api.ProviderDetails], most of which is JSON already.
type Details struct {
	Name         string
	Metadata     jsonwire.Text // of an [api.ProviderMetadata]
	IsConfigured bool
	Type         api.ProviderType
}

// Write writes the details as JSON.
func (d Details) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("name").String(d.Name)
	w.Name("metadata").Raw(d.Metadata)
	w.Name("is_configured").Bool(d.IsConfigured)
	w.Name("provider_type").String(string(d.Type))
	w.Close('}')
}

// fixed returns the metadata of the providers that are part of the server, by name.
var fixed = sync.OnceValue(func() map[string]jsonwire.Text {
	all := map[string]jsonwire.Text{}
	for i := range builtins {
		all[builtins[i].name] = jsonwire.Marshal(builtins[i].metadata())
	}
	for id, d := range definition.Bundled() {
		all[id] = jsonwire.Marshal(metadataOf(id, d))
	}
	return all
})

// Providers describes all providers, sorted by name (decision G57). Secrets that cannot be read count as not set.
func (f *Factory) Providers() []Details {
	var all []Details
	settings := f.Settings
	if f.View != nil {
		settings = f.View()
	}
	var unread error // the first one, because the others come from the same file
	ready := func(is bool, err error) bool {
		unread = cmp.Or(unread, err)
		return is
	}
	for i := range builtins {
		b := &builtins[i]
		all = append(all, Details{b.name, fixed()[b.name], ready(b.isConfigured(settings)), b.kind()})
	}
	ids := f.Definitions.IDs()
	for id := range definition.Bundled() {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if builtinOf(id) != nil {
			continue
		}
		d, isFile, err := f.Definitions.Find(id)
		if err != nil {
			continue
		}
		metadata, kind := fixed()[id], api.ProviderTypeDeclarative
		if isFile {
			metadata, kind = jsonwire.Marshal(metadataOf(id, d)), api.ProviderTypeCustom
		}
		all = append(all, Details{id, metadata, ready(hasKey(settings, d)), kind})
	}
	f.logUnread(unread)
	slices.SortFunc(all, func(a, b Details) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// isConfigured reports whether all keys without a default are set that a provider must have, or one of the others if
// there is none (GA 10.14). Every provider that is built in must have a key.
func (b *builtin) isConfigured(settings Settings) (bool, error) {
	missing, without, set := false, false, false
	for _, k := range b.keys {
		if !k.Required {
			continue
		}
		value, err := valueOf(settings, k)
		if err != nil {
			return false, &unread{k.Name, err}
		}
		set = set || value != nil
		if k.Default == nil {
			without = true
			missing = missing || value == nil
		}
	}
	return without && !missing || !without && set, nil
}

func (b *builtin) kind() api.ProviderType {
	if b.preferred {
		return api.ProviderTypePreferred
	}
	return api.ProviderTypeBuiltin
}

func (b *builtin) metadata() api.ProviderMetadata {
	description := b.description
	if b.cannot != "" {
		description += ". Cannot run on this server: " + b.cannot
	}
	return api.ProviderMetadata{
		Name: b.name, DisplayName: b.display, Description: description, DefaultModel: b.model, KnownModels: b.knownModels(),
		ModelDocLink: b.link, ConfigKeys: b.configKeys(),
	}
}

func (b *builtin) knownModels() []api.ModelInfo {
	list := b.known
	if list == nil {
		list = knownModels(0, b.model)
	}
	models := make([]api.ModelInfo, len(list))
	for i, model := range list {
		if model.limit == 0 {
			model.limit = ContextOf(ModelConfig{ContextLimit: limitOf(model.name)})
		}
		models[i] = api.ModelInfo{Name: model.name, ContextLimit: model.limit}
	}
	return models
}

func (b *builtin) configKeys() []api.ConfigKey {
	keys := make([]api.ConfigKey, len(b.keys))
	for i, k := range b.keys {
		keys[i] = k.ConfigKey
	}
	return keys
}

// metadataOf returns the metadata of the provider of a definition.
func metadataOf(id string, d definition.Definition) api.ProviderMetadata {
	engine, model := builtinOf(string(d.Engine)), ""
	models := slices.Clone(d.Models)
	for i := range models {
		if models[i].SupportsCacheControl == nil {
			models[i].SupportsCacheControl = new(false)
		}
	}
	if len(models) > 0 {
		model = models[0].Name
	}
	return api.ProviderMetadata{
		Name: id, DisplayName: d.DisplayName, Description: definition.Description(d), DefaultModel: model, KnownModels: models,
		ModelDocLink: engine.link, ConfigKeys: keysOf(d, engine),
	}
}

// keysOf returns the keys of an engine, with the key of a definition instead of its own.
func keysOf(d definition.Definition, engine *builtin) []api.ConfigKey {
	keys := engine.configKeys()
	own := slices.IndexFunc(keys, func(k api.ConfigKey) bool { return k.Required && k.Secret })
	switch {
	case own < 0:
		return keys
	case d.APIKeyEnv == "":
		return slices.Delete(keys, own, own+1)
	}
	keys[own] = keyOf(d).ConfigKey
	return keys
}

// hasKey reports whether a provider has the key that its definition needs.
func hasKey(settings Settings, d definition.Definition) (bool, error) {
	if !definition.NeedsKey(d) {
		return true, nil
	}
	value, err := valueOf(settings, keyOf(d))
	if err != nil {
		return false, &unread{d.APIKeyEnv, err}
	}
	return value != nil && string(value) != `""`, nil
}
