package llm

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Settings return addresses and keys. The environment has precedence (GA 1.4). A value is canonical JSON, or nil if
// there is none. The errors come from reading files.
type Settings interface {
	Setting(key string) (json.RawMessage, error)
	Secret(key string) (json.RawMessage, error)
}

// A Factory creates providers.
type Factory struct {
	Settings Settings
	Env      Lookup
	// Custom is the directory with the definitions of custom providers (GA 10.19).
	Custom    string
	Transport http.RoundTripper
	Logs      *Logs // nil keeps no logs
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

// cannotRun are the known providers that this server does not implement (GA 24.1, decision M1).
var cannotRun = []string{
	"azure_openai", "aws_bedrock", "claude-code", "cursor-agent", "databricks", "gcp_vertex_ai", "gemini-cli",
	"github_copilot", "google", "litellm", "openrouter", "sagemaker_tgi", "snowflake", "tetrate", "venice", "xai",
}

// Config returns the configuration of a model, with the values of the environment; see [NewModelConfig].
func (f *Factory) Config(model string) (ModelConfig, error) { return NewModelConfig(model, f.Env) }

// LeadConfig returns the configuration of a lead's model; see [NewLeadConfig].
func (f *Factory) LeadConfig(model string) (ModelConfig, error) { return NewLeadConfig(model, f.Env) }

// New returns a provider, without any request to it. The text of the error is for clients (decision M2).
func (f *Factory) New(name string, config ModelConfig) (*Provider, error) {
	p := &Provider{
		name:    name,
		config:  config,
		streams: true,
		caller:  caller{transport: f.Transport, skipBackoff: f.skipBackoff},
		logs:    f.Logs,
		log:     f.Log,
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	var err error
	switch {
	case name == "openai":
		err = f.openAI(p)
	case name == "anthropic":
		err = f.anthropic(p)
	case name == "ollama":
		err = f.ollama(p)
	case slices.Contains(cannotRun, name):
		err = reason("Provider cannot run on this server: " + name)
	default:
		err = f.declared(p)
	}
	if err != nil {
		if u, ok := errors.AsType[*unread](err); ok && f.Log != nil {
			f.Log.Warn("provider not made", "key", u.key, "err", u.cause)
		}
		return nil, err
	}
	return p, nil
}

func (f *Factory) skipBackoff() bool {
	value, _ := f.Env("GOOSE_PROVIDER_SKIP_BACKOFF")
	return value == "true"
}

const fastOpenAI = "gpt-4o-mini"

func (f *Factory) openAI(p *Provider) error {
	v := values{f.Settings, nil}
	key := v.need(f.Settings.Secret, "OPENAI_API_KEY")
	host := v.text(f.Settings.Setting, "OPENAI_HOST", "https://api.openai.com")
	path := v.text(f.Settings.Setting, "OPENAI_BASE_PATH", "v1/chat/completions")
	organization := v.text(f.Settings.Setting, "OPENAI_ORGANIZATION", "")
	project := v.text(f.Settings.Setting, "OPENAI_PROJECT", "")
	custom := v.text(f.Settings.Secret, "OPENAI_CUSTOM_HEADERS", "")
	p.to.timeout = v.seconds("OPENAI_TIMEOUT")
	if v.err != nil {
		return v.err
	}
	p.wire = chat{}
	p.config.FastModel = new(fastOpenAI)
	p.to.header = bearer(key)
	setUnlessEmpty(p.to.header, "OpenAI-Organization", organization)
	setUnlessEmpty(p.to.header, "OpenAI-Project", project)
	for part := range strings.SplitSeq(custom, ",") {
		name, value, ok := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); ok && name != "" {
			p.to.header.Set(name, strings.TrimSpace(value))
		}
	}
	return p.goTo(host, "/"+strings.TrimLeft(path, "/"))
}

func (f *Factory) anthropic(p *Provider) error {
	v := values{f.Settings, nil}
	key := v.need(f.Settings.Secret, "ANTHROPIC_API_KEY")
	host := v.text(f.Settings.Setting, "ANTHROPIC_HOST", "https://api.anthropic.com")
	if v.err != nil {
		return v.err
	}
	p.wire = messages{}
	p.to.timeout = defaultTimeout
	p.to.header = anthropicHeader(key)
	return p.goTo(host, "/v1/messages")
}

func anthropicHeader(key string) http.Header {
	h := http.Header{}
	setUnlessEmpty(h, "X-Api-Key", key)
	h.Set("Anthropic-Version", "2023-06-01")
	return h
}

func (f *Factory) ollama(p *Provider) error {
	v := values{f.Settings, nil}
	host := v.text(f.Settings.Setting, "OLLAMA_HOST", "localhost")
	p.to.timeout = v.seconds("OLLAMA_TIMEOUT")
	if v.err != nil {
		return v.err
	}
	p.wire = chat{}
	p.to.header = http.Header{}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	base, err := baseURL(host)
	if err != nil {
		return err
	}
	if base.Scheme == "http" && base.Port() == "" {
		base.Host += ":11434"
	}
	return p.goTo(base.Scheme+"://"+base.Host, "/v1/chat/completions")
}

// goTo sets the URL to a path below a base, which comes from a setting.
func (p *Provider) goTo(base, path string) error {
	if _, err := baseURL(base); err != nil {
		return err
	}
	p.to.url = strings.TrimRight(base, "/") + path
	return nil
}

func baseURL(base string) (*url.URL, error) {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" {
		return nil, reason("Invalid base URL: " + base)
	}
	return parsed, nil
}

func bearer(key string) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

func setUnlessEmpty(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// defaultTimeout is the default time limit of a call (GA 24.1).
const defaultTimeout = 600 * time.Second

// values reads settings, and keeps the first error.
type values struct {
	settings Settings
	err      error
}

type source = func(key string) (json.RawMessage, error)

// need returns a required text.
func (v *values) need(from source, key string) string {
	value, there := v.read(from, key)
	if !there && v.err == nil {
		v.err = reason("Configuration value not found: " + key)
	}
	return value
}

// text returns a text, or the default.
func (v *values) text(from source, key, byDefault string) string {
	if value, there := v.read(from, key); there {
		return value
	}
	return byDefault
}

func (v *values) read(from source, key string) (value string, there bool) {
	if v.err != nil {
		return "", false
	}
	raw, err := from(key)
	switch {
	case err != nil:
		v.err = &unread{key, err}
	case raw == nil || string(raw) == "null":
		return "", false
	case jsonwire.Text(raw).Kind() != "string":
		v.err = reason("Configuration value is not a string: " + key)
	default:
		return jsonwire.Text(raw).Str(), true
	}
	return "", false
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
