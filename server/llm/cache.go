package llm

import (
	"context"
	"strings"
	"time"
)

// isOfAnthropic reports whether OpenRouter sends requests for a model to Anthropic (decision M75).
func isOfAnthropic(model string) bool { return strings.HasPrefix(model, "anthropic") }

func isClaude(model string) bool { return strings.Contains(model, "claude") }

const (
	proxyPath    = "/model/info"
	proxyTimeout = 5 * time.Second
)

// wireFor returns the format of one call. It asks a proxy whether the model has a cache (decision M75).
func (p *Provider) wireFor(ctx context.Context, config ModelConfig) wire {
	format, ok := p.calls.wire.(chat)
	if !ok || !p.calls.asksProxy {
		return p.calls.wire
	}
	if model := format.model(config); !format.marks(model) && p.proxyCaches(ctx, model) {
		format.marks = func(string) bool { return true }
	}
	return format
}

// proxyCaches reports whether a proxy says that it caches what is sent to a model.
func (p *Provider) proxyCaches(ctx context.Context, model string) bool {
	answer, err := p.caller.get(ctx, p.proxy)
	if err != nil {
		return false
	}
	for _, item := range answer.Get("data").Elements() {
		if item.Get("model_name").Kind() == "string" && item.Get("model_name").Str() == model &&
			isTrue("supports_prompt_caching")(item.Get("model_info")) {
			return true
		}
	}
	return false
}
