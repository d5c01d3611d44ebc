package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// metrics are what is measured (decision T18). A nil *metrics measures nothing.
type metrics struct {
	requests, calls metric.Float64Histogram // seconds
	tokens          metric.Int64Histogram
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	meter := provider.Meter(serviceName, metric.WithInstrumentationVersion(serviceVersion))
	seconds := func(name string, boundaries ...float64) (metric.Float64Histogram, error) {
		return meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(boundaries...))
	}
	requests, err1 := seconds("http.server.request.duration", 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
	calls, err2 := seconds("gen_ai.client.operation.duration", 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
	tokens, err3 := meter.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithExplicitBucketBoundaries(
		1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	return &metrics{requests, calls, tokens}, errors.Join(err1, err2, err3)
}

func (m *metrics) request(ctx context.Context, took time.Duration, attributes []attribute.KeyValue) {
	if m != nil {
		m.requests.Record(context.WithoutCancel(ctx), took.Seconds(), metric.WithAttributes(attributes...))
	}
}

func (m *metrics) chat(c *Chat, took time.Duration, errorType string) {
	if m == nil {
		return
	}
	ctx := context.WithoutCancel(c.ctx) // a measurement of a cancelled call counts
	attributes := c.shared()
	if errorType != "" {
		attributes = c.shared(attribute.String("error.type", errorType))
	}
	m.calls.Record(ctx, took.Seconds(), metric.WithAttributes(attributes...))
	for kind, tokens := range map[string]*int64{"input": c.Input, "output": c.Output} {
		if tokens != nil {
			m.tokens.Record(ctx, *tokens, metric.WithAttributes(c.shared(attribute.String("gen_ai.token.type", kind))...))
		}
	}
}
