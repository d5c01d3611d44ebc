package telemetry

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// A scope is what the calls of a context belong to.
type scope struct {
	conversation string
	agent        *Agent // nil for calls outside of a reply
	answering    bool   // a call of a model is for an answer
}

type scopeKey struct{}

func scopeOf(ctx context.Context) scope {
	s, _ := ctx.Value(scopeKey{}).(scope)
	return s
}

func (s scope) in(ctx context.Context) context.Context { return context.WithValue(ctx, scopeKey{}, s) }

// An Agent is the engine of a reply (decision T15).
type Agent struct {
	span trace.Span

	mu         sync.Mutex
	lastAnswer string // error.type of the last call of a model for an answer
}

// Agent begins the span of a reply's engine. provider may be empty.
func (t *Telemetry) Agent(ctx context.Context, provider, conversation string) (context.Context, *Agent) {
	if t == nil || t.tracer == nil && t.metrics == nil {
		return ctx, nil
	}
	a := &Agent{}
	if t.tracer != nil {
		attributes := []attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "invoke_agent"),
			attribute.String("gen_ai.agent.name", "goose"),
			text("gen_ai.conversation.id", conversation),
		}
		if provider != "" {
			attributes = append(attributes, text("gen_ai.provider.name", providerName(provider)))
		}
		ctx, a.span = t.tracer.Start(ctx, "invoke_agent goose", trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attributes...))
	}
	return scope{conversation: conversation, agent: a}.in(ctx), a
}

// End ends the span. failure is empty if the reply did not fail. A failed answer of the model has precedence over it, and
// the end of the context too.
func (a *Agent) End(ctx context.Context, failure string) {
	if a == nil || a.span == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		failure = Cancelled
	}
	if a.lastAnswer != "" {
		failure = a.lastAnswer
	}
	endSpan(a.span, failure)
}

// endSpan ends a span, which is an error unless errorType is empty.
func endSpan(span trace.Span, errorType string) {
	if errorType != "" {
		span.SetAttributes(attribute.String("error.type", errorType))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// Answering returns a context whose calls of models are for an answer of the agent. The error of the last of them is that of
// the agent.
func Answering(ctx context.Context) context.Context {
	s := scopeOf(ctx)
	if s.agent == nil {
		return ctx
	}
	s.answering = true
	return s.in(ctx)
}

// Within returns ctx as a part of what another context belongs to: a reply, or else a request. MCP servers, for example, ask
// for samples in contexts of their own.
func Within(ctx, other context.Context) context.Context {
	s := scopeOf(other)
	if s == (scope{}) {
		return ctx
	}
	if s.agent == nil {
		ctx = trace.ContextWithSpan(ctx, trace.SpanFromContext(other))
	} else if s.agent.span != nil {
		ctx = trace.ContextWithSpan(ctx, s.agent.span)
	}
	return s.in(ctx)
}

// Outside returns a context for calls about a conversation that are not part of a reply. They keep the span of ctx.
func (t *Telemetry) Outside(ctx context.Context, conversation string) context.Context {
	if t == nil {
		return ctx
	}
	return scope{conversation: conversation}.in(ctx)
}
