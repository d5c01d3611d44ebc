package telemetry

import (
	"context"
	"net/url"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// A Chat is a call of a model, with its repetitions (decision T16). The fields are set before it ends, as far as they are
// known.
type Chat struct {
	telemetry       *Telemetry
	ctx             context.Context
	span            trace.Span // nil if traces are off
	begun           time.Time
	provider, model string
	ended           bool

	ResponseModel, FinishReason string
	Input, Output               *int64 // tokens
}

// Chat begins the span of a call. to is the URL that is called.
func (t *Telemetry) Chat(ctx context.Context, provider, model, to string) (context.Context, *Chat) {
	if t == nil || t.tracer == nil && t.metrics == nil {
		return ctx, nil
	}
	c := &Chat{telemetry: t, ctx: ctx, begun: time.Now(), provider: providerName(provider), model: model}
	if t.tracer != nil {
		attributes := append(c.request(), server(to)...)
		if id := scopeOf(ctx).conversation; id != "" {
			attributes = append(attributes, text("gen_ai.conversation.id", id))
		}
		c.ctx, c.span = t.tracer.Start(ctx, valid("chat "+model), trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(c.begun),
			trace.WithAttributes(attributes...))
	}
	return c.ctx, c
}

// End ends the span, the first time. errorType is empty if the call did not fail.
func (c *Chat) End(errorType string) {
	if c == nil || c.ended {
		return
	}
	c.ended = true
	now := time.Now()
	if s := scopeOf(c.ctx); s.answering {
		s.agent.mu.Lock()
		s.agent.lastAnswer = errorType
		s.agent.mu.Unlock()
	}
	if c.span != nil {
		c.span.SetAttributes(c.response()...)
		if c.FinishReason != "" {
			c.span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{valid(c.FinishReason)}))
		}
		if c.Input != nil {
			c.span.SetAttributes(attribute.Int64("gen_ai.usage.input_tokens", *c.Input))
		}
		if c.Output != nil {
			c.span.SetAttributes(attribute.Int64("gen_ai.usage.output_tokens", *c.Output))
		}
		endSpan(c.span, errorType)
	}
	c.telemetry.metrics.chat(c, now.Sub(c.begun), errorType)
}

// request returns the attributes that are known from the start, of the span and of metrics.
func (c *Chat) request() []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		text("gen_ai.provider.name", c.provider),
		text("gen_ai.request.model", c.model),
	}
}

// response returns the attributes that the answer adds to those.
func (c *Chat) response() []attribute.KeyValue {
	if c.ResponseModel == "" {
		return nil
	}
	return []attribute.KeyValue{text("gen_ai.response.model", c.ResponseModel)}
}

// shared returns the attributes of metrics.
func (c *Chat) shared(more ...attribute.KeyValue) []attribute.KeyValue {
	return slices.Concat(c.request(), c.response(), more)
}

// server returns the attributes of the server that a URL names.
func server(to string) []attribute.KeyValue {
	parsed, err := url.Parse(to)
	if err != nil {
		return nil
	}
	port := "80"
	if parsed.Scheme == "https" {
		port = "443"
	}
	return address(parsed.Host, port)
}

// names are those of the conventions, for the providers that goose calls otherwise.
var names = map[string]string{
	"azure_openai":  "azure.ai.openai",
	"aws_bedrock":   "aws.bedrock",
	"google":        "gcp.gemini",
	"gcp_vertex_ai": "gcp.vertex_ai",
	"mistral":       "mistral_ai",
	"xai":           "x_ai",
}

func providerName(provider string) string {
	if name, ok := names[provider]; ok {
		return name
	}
	return provider
}
