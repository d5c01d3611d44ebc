package llm

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/telemetry"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Settings return addresses and keys. The environment has precedence (GA 1.4). A value is canonical JSON, or nil if
// there is none. The errors come from reading files.
type Settings interface {
	Setting(key string) (json.RawMessage, error)
	Secret(key string) (json.RawMessage, error)
}

// A Factory creates providers, and describes them.
type Factory struct {
	Settings Settings
	// View returns the settings for one operation that needs many. If it is nil, that is Settings.
	View func() Settings
	Env  Lookup
	// Definitions are those of custom providers (GA 10.19).
	Definitions *definition.Store
	Transport   http.RoundTripper
	Logs        *Logs // nil keeps no logs
	// Telemetry records the calls. It may be nil.
	Telemetry *telemetry.Telemetry
	// Log receives the reasons why settings cannot be read. It may be nil.
	Log *slog.Logger
}

// A reason says why a provider cannot be created. It is part of an answer to a client.
type reason string

func (r reason) Error() string { return string(r) }

// An unread error is about a file of settings or secrets that cannot be read. Clients do not see the cause (decision
// G26).
type unread struct {
	key   string
	cause error
}

func (*unread) Error() string { return "Internal error" }

func (u *unread) Unwrap() error { return u.cause }

// Config returns the configuration of a model, with the values of the environment; see [NewModelConfig].
func (f *Factory) Config(model string) (ModelConfig, error) { return NewModelConfig(model, f.Env) }

// LeadConfig returns the configuration of a lead's model; see [NewLeadConfig].
func (f *Factory) LeadConfig(model string) (ModelConfig, error) { return NewLeadConfig(model, f.Env) }

// New returns a provider, without any request to it. The text of the error is for clients (decision M2).
func (f *Factory) New(name string, config ModelConfig) (*Provider, error) {
	p := &Provider{name: name, config: config, caller: f.caller(), logs: f.Logs, telemetry: f.Telemetry, log: f.Log}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := f.configure(p); err != nil {
		f.logUnread(err)
		return nil, err
	}
	return p, nil
}

func (f *Factory) configure(p *Provider) error {
	b := builtinOf(p.name)
	switch {
	case b == nil:
		return f.declared(p)
	case b.cannot != "":
		return reason("Provider cannot run on this server: " + b.name + " (" + b.cannot + ")")
	}
	k, to, err := f.siteOf(b, nil)
	if err != nil {
		return err
	}
	p.calls, p.to = b.calls, to
	if b.calls.asksProxy {
		p.proxy = to
		p.proxy.url += proxyPath
		p.proxy.timeout = proxyTimeout
	}
	p.to.url += b.calls.path(k)
	if b.calls.fast != "" {
		p.config.FastModel = &b.calls.fast
	}
	return nil
}

// siteOf returns the values of a provider's keys, and an endpoint that still lacks its path. It does not read the keys
// that are known.
func (f *Factory) siteOf(b *builtin, known given) (given, endpoint, error) {
	v := values{f.Settings, nil}
	k, to := given{}, endpoint{timeout: defaultTimeout}
	for _, key := range b.keys {
		if key.number {
			to.timeout = v.seconds(key.Name)
		} else if _, ok := known[key.Name]; !ok {
			k[key.Name] = v.key(key)
		}
	}
	if v.err != nil {
		return nil, endpoint{}, v.err
	}
	maps.Copy(k, known)
	to.header = b.site.header(k)
	base := k[b.site.host]
	if b.site.base != nil {
		base = b.site.base(base)
	}
	var err error
	to.url, err = join(base, "")
	return k, to, err
}

// Check returns why a provider cannot be created with its default model, or nil. The text is for clients (decision
// G60).
func (f *Factory) Check(name string) error {
	var model string
	if b := builtinOf(name); b != nil {
		model = b.model
	} else if d, err := f.definition(name); err != nil {
		return err
	} else if len(d.Models) > 0 {
		model = d.Models[0].Name
	}
	config, err := f.Config(model)
	if err != nil {
		return reason("Invalid model config: " + err.Error())
	}
	_, err = f.New(name, config)
	return err
}

func (f *Factory) caller() caller {
	return caller{transport: f.Transport, skipBackoff: f.skipBackoff, complaints: maxError}
}

func (f *Factory) skipBackoff() bool {
	value, _ := f.Env("GOOSE_PROVIDER_SKIP_BACKOFF")
	return value == "true"
}

// logUnread logs why settings cannot be read, if that is what an error is about.
func (f *Factory) logUnread(err error) {
	if u, ok := errors.AsType[*unread](err); ok && f.Log != nil {
		f.Log.Warn("keys of a provider not read", "key", u.key, "err", u.cause)
	}
}

// definition returns the definition of a provider that is not built in.
func (f *Factory) definition(name string) (definition.Definition, error) {
	d, _, err := f.Definitions.Find(name)
	if err != nil {
		return d, reason("Unknown provider: " + excerpt.Quoted(name))
	}
	return d, nil
}

// declared configures a provider from its definition.
func (f *Factory) declared(p *Provider) error {
	d, err := f.definition(p.name)
	if err != nil {
		return err
	}
	v := values{f.Settings, nil}
	var secret string
	if definition.NeedsKey(d) {
		if secret = v.key(keyOf(d)); v.err != nil {
			return v.err
		}
	}
	p.calls.wire = chat{}
	p.calls.streams = d.SupportsStreaming == nil || *d.SupportsStreaming
	p.to = siteOfDefinition(d, secret)
	if d.Engine == api.ProviderEngineAnthropic {
		p.calls.wire = messages{}
		p.to.url, err = join(d.BaseURL, "/v1/messages")
	} else {
		p.to.url, err = chatURL(d.BaseURL)
	}
	return err
}

func keyOf(d definition.Definition) key { return secret(d.APIKeyEnv) }

// siteOfDefinition returns an endpoint that still lacks its URL.
func siteOfDefinition(d definition.Definition, secret string) endpoint {
	to := endpoint{header: bearer(secret), timeout: defaultTimeout}
	if d.Engine == api.ProviderEngineAnthropic {
		to.header = anthropicHeader(secret)
	}
	if d.TimeoutSeconds != nil {
		to.timeout = limitOfTime(float64(*d.TimeoutSeconds))
	}
	for _, field := range d.Headers {
		to.header.Set(field.Name, field.Value)
	}
	return to
}

// defaultTimeout is the default time limit of a call (GA 24.1).
const defaultTimeout = 600 * time.Second

// values reads settings, and keeps the first error.
type values struct {
	settings Settings
	err      error
}

// key returns the value of a key, which must be a text.
func (v *values) key(k key) string {
	if v.err != nil {
		return ""
	}
	raw, err := valueOf(v.settings, k)
	text := jsonwire.Text(raw)
	switch {
	case err != nil:
		v.err = &unread{k.Name, err}
	case raw == nil && !k.mustBeSet():
		return k.fallback()
	case raw == nil || k.filled && text.Kind() == "string" && text.Str() == "":
		v.err = reason("Configuration value not found: " + k.Name)
	case text.Kind() != "string":
		v.err = reason("Configuration value is not a string: " + k.Name)
	}
	return text.Str()
}

// valueOf returns the value of a key, or nil if it is missing or null.
func valueOf(settings Settings, k key) (json.RawMessage, error) {
	read := settings.Setting
	if k.Secret {
		read = settings.Secret
	}
	raw, err := read(k.Name)
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return raw, nil
}

// seconds returns a time limit from a positive number of seconds, or the default (decision M46).
func (v *values) seconds(key string) time.Duration {
	raw, err := v.settings.Setting(key)
	if err != nil || v.err != nil || jsonwire.Text(raw).Kind() != "number" {
		return defaultTimeout
	}
	f, err := json.Number(raw).Float64()
	if err != nil {
		return defaultTimeout
	}
	return limitOfTime(f)
}

// limitOfTime converts seconds to a time limit of at most a year.
func limitOfTime(seconds float64) time.Duration {
	if seconds <= 0 {
		return defaultTimeout
	}
	const year = 365 * 24 * 60 * 60
	return time.Duration(min(seconds, year) * float64(time.Second))
}
