// Package telemetry exports traces, metrics and logs with OpenTelemetry, if the environment says where to
// (docs/behaviour/goose-api.md, section 36).
//
// [Read] reads the environment, and [Start] returns what records and exports. The rest of the server has one place for each
// kind of span:
//
//   - the outermost middleware: [Telemetry.Request]
//   - the engine of a reply: [Telemetry.Agent]
//   - a call of a model: [Telemetry.Chat]
//   - a call of a tool: [Telemetry.Tool]
//
// Metrics are recorded where spans end. Log records are made by the handler of the server's logger, [Telemetry.Handler].
//
// A nil *Telemetry is off: its methods, and those of the nil spans that it returns, do nothing and allocate nothing.
// Nothing of the content of a conversation is ever given to this package (decision T13).
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A Telemetry records and exports. It is safe for concurrent use.
type Telemetry struct {
	tracer    trace.Tracer // nil if traces are off
	metrics   *metrics     // nil if metrics are off
	logger    otellog.Logger
	continues bool

	open   sync.WaitGroup // requests whose spans have not ended
	closes []func(context.Context) error
	cut    context.CancelCauseFunc // ends all exports
}

// Values of error.type.
const (
	Cancelled       = "cancelled"
	Timeout         = "timeout"
	ConnectionError = "connection_error"
	InvalidResponse = "invalid_response"
	Other           = "_OTHER"

	toolError = "tool_error"
)

var errClosed = errors.New("telemetry has been closed")

// quiet keeps what the libraries report, which may have secrets, out of standard error.
var quiet = sync.OnceFunc(func() {
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
})

// Start starts what the settings ask for. It returns nil if that is nothing. Failures of exports are written to log, which
// must not be the logger that exports.
func Start(s Settings, log *slog.Logger) (*Telemetry, error) {
	if !s.On() {
		return nil, nil
	}
	quiet()
	ctx, cut := context.WithCancelCause(context.Background())
	t := &Telemetry{continues: s.continues, cut: cut}
	if err := t.start(ctx, s, log); err != nil {
		_ = t.Shutdown(ctx)
		return nil, err
	}
	return t, nil
}

func (t *Telemetry) start(ctx context.Context, s Settings, log *slog.Logger) error {
	res, err := resourceOf(ctx, s.resource)
	if err != nil {
		return err
	}
	if s.traces != nil {
		exporter, err := s.traces.spans(ctx, log)
		if err != nil {
			return err
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSampler(samplerOf(s.sampler, s.ratio)),
			sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(s.spans.delay), sdktrace.WithExportTimeout(s.spans.timeout),
				sdktrace.WithMaxQueueSize(s.spans.queue), sdktrace.WithMaxExportBatchSize(s.spans.batch)))
		t.tracer = provider.Tracer(serviceName, trace.WithInstrumentationVersion(serviceVersion))
		t.closes = append(t.closes, provider.Shutdown)
	}
	if s.metrics != nil {
		exporter, err := s.metrics.points(ctx, log)
		if err != nil {
			return err
		}
		reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithInterval(s.interval), sdkmetric.WithTimeout(s.metricsTimeout))
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
		t.closes = append(t.closes, provider.Shutdown)
		if t.metrics, err = newMetrics(provider); err != nil {
			return err
		}
	}
	if s.logs != nil {
		exporter, err := s.logs.records(ctx, log)
		if err != nil {
			return err
		}
		provider := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter,
			sdklog.WithExportInterval(s.records.delay), sdklog.WithExportTimeout(s.records.timeout),
			sdklog.WithMaxQueueSize(s.records.queue), sdklog.WithExportMaxBatchSize(s.records.batch))))
		t.logger = provider.Logger(serviceName, otellog.WithInstrumentationVersion(serviceVersion))
		t.closes = append(t.closes, provider.Shutdown)
	}
	return nil
}

// resourceOf returns the resource of all signals (decision T6).
func resourceOf(ctx context.Context, pairs []pair) (*resource.Resource, error) {
	var attributes []attribute.KeyValue
	for _, p := range pairs {
		attributes = append(attributes, text(attribute.Key(valid(p.name)), p.value))
	}
	return resource.New(ctx, resource.WithAttributes(attributes...), resource.WithTelemetrySDK())
}

func samplerOf(name string, ratio float64) sdktrace.Sampler {
	switch name {
	case alwaysOn:
		return sdktrace.AlwaysSample()
	case alwaysOff:
		return sdktrace.NeverSample()
	case byRatio:
		return sdktrace.TraceIDRatioBased(ratio)
	case parentOff:
		return sdktrace.ParentBased(sdktrace.NeverSample())
	case parentRatio:
		return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))
	}
	return sdktrace.ParentBased(sdktrace.AlwaysSample())
}

// endTime is how long Shutdown waits for requests that are about to end, and flushTime how long it exports (decision T12).
const (
	endTime   = 200 * time.Millisecond
	flushTime = 2 * time.Second
)

// Shutdown exports what has ended, for at most 2 s or until ctx ends. It cuts the exports that are running then.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	defer t.cut(errClosed)
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	t.awaitRequests()
	failed := make([]error, len(t.closes))
	var closing sync.WaitGroup
	for i, shut := range t.closes {
		closing.Go(func() { failed[i] = shut(ctx) })
	}
	defer context.AfterFunc(ctx, func() { t.cut(errClosed) })()
	closing.Wait()
	return errors.Join(failed...)
}

// awaitRequests waits for the spans of requests that have just ended.
func (t *Telemetry) awaitRequests() {
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.open.Wait()
	}()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
	}
}

// valid returns a text that can be exported.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func text(key attribute.Key, value string) attribute.KeyValue { return key.String(valid(value)) }
