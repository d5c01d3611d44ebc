package llm

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// A declaration is the definition of a provider in a file (GA 4.12, DeclarativeProviderConfig), with the parts that
// calls need.
type declaration struct {
	engine, keyName, baseURL string
	headers                  map[string]string
	timeout                  *int64 // seconds
	streaming                *bool
}

// bundled are the definitions that are part of the server (GA 24.2).
var bundled = map[string]declaration{
	"custom_deepseek": {engine: "openai", keyName: "DEEPSEEK_API_KEY", baseURL: "https://api.deepseek.com"},
	"groq":            {engine: "openai", keyName: "GROQ_API_KEY", baseURL: "https://api.groq.com/openai/v1/chat/completions"},
	"mistral":         {engine: "openai", keyName: "MISTRAL_API_KEY", baseURL: "https://api.mistral.ai/v1/chat/completions"},
}

// maxDeclaration limits the file of a definition.
const maxDeclaration = 1 << 20

// declared configures a provider from the definition in a file, or else from a bundled one.
func (f *Factory) declared(p *Provider) error {
	d, err := f.declaration(p.name)
	if err != nil {
		return err
	}
	v := values{f.Settings, nil}
	var key string
	if d.engine != "ollama" && d.keyName != "" {
		if key = v.need(f.Settings.Secret, d.keyName); v.err != nil {
			return v.err
		}
	}
	p.streams = d.streaming == nil || *d.streaming
	p.to.timeout = defaultTimeout
	if d.timeout != nil {
		p.to.timeout = limitOfTime(float64(*d.timeout))
	}
	if d.engine == "anthropic" {
		p.wire = messages{}
		p.to.header = anthropicHeader(key)
		err = p.goTo(d.baseURL, "/v1/messages")
	} else {
		p.wire = chat{}
		p.to.header = bearer(key)
		err = p.goToChat(d.baseURL)
	}
	for name, value := range d.headers {
		p.to.header.Set(name, value)
	}
	return err
}

// goToChat sets the URL to a base, with the usual path if the base has none (GA 18.8).
func (p *Provider) goToChat(base string) error {
	parsed, err := baseURL(base)
	if err != nil {
		return err
	}
	if parsed.Path == "" || parsed.Path == "/" {
		parsed.Path = "/v1/chat/completions"
	}
	parsed.RawQuery, parsed.Fragment = "", ""
	p.to.url = parsed.String()
	return nil
}

func (f *Factory) declaration(name string) (declaration, error) {
	unknown := reason("Unknown provider: " + excerpt.Quoted(name))
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return declaration{}, unknown // must not leave the directory
	}
	d, err := readDeclaration(filepath.Join(f.Custom, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		if d, ok := bundled[name]; ok {
			return d, nil
		}
	}
	if err != nil {
		return declaration{}, unknown
	}
	return d, nil
}

func readDeclaration(path string) (declaration, error) {
	text, err := files.Read(path, maxDeclaration)
	if err != nil {
		return declaration{}, err
	}
	v, err := decode.Parse(text)
	if err != nil {
		return declaration{}, err
	}
	o := v.Object("engine", "api_key_env", "base_url", "headers", "timeout_seconds", "supports_streaming")
	d := declaration{
		engine:    o.OneOf("engine", "openai", "ollama", "anthropic"),
		keyName:   o.String("api_key_env"),
		baseURL:   o.String("base_url"),
		timeout:   o.MaybeInt("timeout_seconds"),
		streaming: o.MaybeBool("supports_streaming"),
	}
	if raw := o.MaybeObject("headers"); raw != nil {
		o.Check(json.Unmarshal(raw, &d.headers))
	}
	return d, o.Err()
}
