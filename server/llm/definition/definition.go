// Package definition keeps the definitions of providers: those that are part of the server, and those in files (GA
// 4.12, 10.19, 24.2).
package definition

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// A Definition says how to call a provider. A nil value is unknown.
type Definition = api.DeclarativeProviderConfig

// NeedsKey reports whether calls need a key (decision M48).
func NeedsKey(d Definition) bool { return d.Engine != api.ProviderEngineOllama && d.APIKeyEnv != "" }

// Bundled returns the definitions that are part of the server, by ID (GA 24.2, decision G65).
func Bundled() map[string]Definition {
	all := map[string]Definition{}
	for _, d := range []Definition{
		bundled("custom_deepseek", "DeepSeek", "DeepSeek models", "DEEPSEEK_API_KEY", "https://api.deepseek.com",
			models(128_000, "deepseek-chat", "deepseek-reasoner")),
		bundled("groq", "Groq (d)", "Models that run on Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1/chat/completions",
			models(131_072, "openai/gpt-oss-120b", "llama-3.1-8b-instant", "llama-3.3-70b-versatile", "meta-llama/llama-guard-4-12b",
				"openai/gpt-oss-20b")),
		bundled("mistral", "Mistral AI", "Models of Mistral AI", "MISTRAL_API_KEY", "https://api.mistral.ai/v1/chat/completions",
			models(128_000, "mistral-medium-latest", "mistral-small-2506", "mistral-medium-2508", "magistral-medium-2509"),
			models(256_000, "codestral-2508"),
			models(128_000, "pixtral-large-2411", "ministral-8b-2410", "mistral-medium-2505", "ministral-3b-2410")),
	} {
		all[d.Name] = d
	}
	return all
}

func bundled(id, display, description, key, url string, lists ...[]api.ModelInfo) Definition {
	d := Definition{
		Name: id, Engine: api.ProviderEngineOpenai, DisplayName: display, Description: &description, APIKeyEnv: key, BaseURL: url,
		SupportsStreaming: new(true),
	}
	for _, list := range lists {
		d.Models = append(d.Models, list...)
	}
	return d
}

// models returns models with a context limit.
func models(limit int64, names ...string) []api.ModelInfo {
	list := make([]api.ModelInfo, len(names))
	for i, name := range names {
		list[i] = api.ModelInfo{Name: name, ContextLimit: limit}
	}
	return list
}

// parse reads the text of a file (decision G58).
func parse(text []byte) (Definition, error) {
	v, err := decode.Parse(text)
	if err != nil {
		return Definition{}, err
	}
	o := v.Object("name", "engine", "display_name", "description", "api_key_env", "base_url", "models", "headers", "timeout_seconds", "supports_streaming")
	d := Definition{
		Name: o.String("name"),
		Engine: api.ProviderEngine(o.OneOf("engine",
			string(api.ProviderEngineOpenai), string(api.ProviderEngineOllama), string(api.ProviderEngineAnthropic))),
		DisplayName:       o.String("display_name"),
		Description:       o.MaybeString("description"),
		APIKeyEnv:         decode.FieldOr(o, "api_key_env", "", decode.Value.Str),
		BaseURL:           o.String("base_url"),
		Models:            decode.List(o, "models", parseModel),
		Headers:           decode.FieldOrZero(o, "headers", decode.Pairs),
		TimeoutSeconds:    decode.MaybeField(o, "timeout_seconds", decode.Natural),
		SupportsStreaming: o.MaybeBool("supports_streaming"),
	}
	return d, o.Err()
}

func parseModel(v decode.Value) (api.ModelInfo, error) {
	o := v.Object("name", "context_limit", "input_token_cost", "output_token_cost", "currency", "supports_cache_control")
	return api.ModelInfo{
		Name:                 o.String("name"),
		ContextLimit:         decode.Field(o, "context_limit", decode.Natural),
		InputTokenCost:       number(o, "input_token_cost"),
		OutputTokenCost:      number(o, "output_token_cost"),
		Currency:             o.MaybeString("currency"),
		SupportsCacheControl: o.MaybeBool("supports_cache_control"),
	}, o.Err()
}

func number(o *decode.Object, name string) json.Number {
	return decode.FieldOrZero(o, name, decode.Value.Number)
}
