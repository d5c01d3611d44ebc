package telemetry

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The first pause before an export is sent again, and the longest.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

func (to *target) spans(running context.Context, log *slog.Logger) (sdktrace.SpanExporter, error) {
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(to.plain()),
		otlptracehttp.WithHeaders(to.headers),
		otlptracehttp.WithCompression(otlptracehttp.Compression(to.compression())),
		otlptracehttp.WithHTTPClient(to.client()),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: longestPause, MaxElapsedTime: to.timeout}),
	}
	exporter, err := otlptracehttp.New(running, options...)
	return spanExporter{exporter, &outcome{target: to, running: running, log: log}}, err
}

func (to *target) points(running context.Context, log *slog.Logger) (sdkmetric.Exporter, error) {
	options := []otlpmetrichttp.Option{
		otlpmetrichttp.WithEndpointURL(to.plain()),
		otlpmetrichttp.WithHeaders(to.headers),
		otlpmetrichttp.WithCompression(otlpmetrichttp.Compression(to.compression())),
		otlpmetrichttp.WithHTTPClient(to.client()),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: longestPause, MaxElapsedTime: to.timeout}),
		otlpmetrichttp.WithTemporalitySelector(sdkmetric.CumulativeTemporalitySelector),
		otlpmetrichttp.WithAggregationSelector(sdkmetric.DefaultAggregationSelector),
	}
	exporter, err := otlpmetrichttp.New(running, options...)
	return pointExporter{exporter, &outcome{target: to, running: running, log: log}}, err
}

func (to *target) records(running context.Context, log *slog.Logger) (sdklog.Exporter, error) {
	options := []otlploghttp.Option{
		otlploghttp.WithEndpointURL(to.plain()),
		otlploghttp.WithHeaders(to.headers),
		otlploghttp.WithCompression(otlploghttp.Compression(to.compression())),
		otlploghttp.WithHTTPClient(to.client()),
		otlploghttp.WithRetry(otlploghttp.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: longestPause, MaxElapsedTime: to.timeout}),
	}
	exporter, err := otlploghttp.New(running, options...)
	return recordExporter{exporter, &outcome{target: to, running: running, log: log}}, err
}

// These exporters report the outcome of each export. The libraries would report errors themselves, with the URL.
type (
	spanExporter struct {
		sdktrace.SpanExporter
		*outcome
	}
	pointExporter struct {
		sdkmetric.Exporter
		*outcome
	}
	recordExporter struct {
		sdklog.Exporter
		*outcome
	}
)

func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return e.of(ctx, func(ctx context.Context) error { return e.SpanExporter.ExportSpans(ctx, spans) })
}

func (e pointExporter) Export(ctx context.Context, points *metricdata.ResourceMetrics) error {
	return e.of(ctx, func(ctx context.Context) error { return e.Exporter.Export(ctx, points) })
}

func (e recordExporter) Export(ctx context.Context, records []sdklog.Record) error {
	return e.of(ctx, func(ctx context.Context) error { return e.Exporter.Export(ctx, records) })
}

// An outcome logs the first failure of a signal after a success (decision T11).
type outcome struct {
	*target
	running context.Context // ends when telemetry is cut
	log     *slog.Logger
	failed  atomic.Bool
}

// of exports, for at most the timeout of the target.
func (o *outcome) of(ctx context.Context, export func(context.Context) error) error {
	attempt := &attempt{}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, attemptKey{}, attempt), o.timeout)
	defer cancel()
	defer context.AfterFunc(o.running, cancel)()
	err := export(ctx)
	if err == nil {
		o.failed.Store(false)
		return nil
	}
	if !o.failed.Swap(true) {
		reason := attempt.reason
		if reason == "" && ctx.Err() != nil {
			reason = "no answer in time"
		}
		if reason == "" {
			reason = "the collector has not accepted everything"
		}
		o.log.Warn("telemetry not exported", "signal", o.signal, "endpoint", o.url.Scheme+"://"+o.url.Host, "reason", reason)
	}
	return nil // it is reported
}

// An attempt has the reason why the last request of an export failed.
type attempt struct{ reason string }

type attemptKey struct{}

// plain returns the URL without what the sender adds.
func (to *target) plain() string {
	return (&url.URL{Scheme: to.url.Scheme, Host: to.url.Host, Path: to.url.Path}).String()
}

// compression returns the number that the libraries have for a kind of compression.
func (to *target) compression() int {
	if to.gzip {
		return int(otlptracehttp.GzipCompression)
	}
	return int(otlptracehttp.NoCompression)
}

// client returns a client that follows no redirects.
func (to *target) client() *http.Client {
	dial := to.dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: to.timeout, KeepAlive: 30 * time.Second}).DialContext
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        2,
		IdleConnTimeout:     90 * time.Second,
	}
	return &http.Client{
		Transport:     &sender{to.url, transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A sender sends exports to exactly the URL of the environment: the libraries leave out its query and its user.
type sender struct {
	url       *url.URL
	transport http.RoundTripper
}

func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	r = r.Clone(ctx)
	r.URL = s.url
	if user := s.url.User; user != nil && r.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	attempt, _ := ctx.Value(attemptKey{}).(*attempt)
	reason := ""
	defer func() {
		if attempt != nil {
			attempt.reason = reason
		}
	}()
	response, err := s.transport.RoundTrip(r)
	switch {
	case err == nil && response.StatusCode/100 != 2:
		reason = "status " + strconv.Itoa(response.StatusCode)
	case err != nil && ctx.Err() != nil:
		reason = "no answer in time"
	case err != nil:
		reason = "no connection"
		return nil, noConnection{err}
	}
	return response, err
}

// noConnection is an error that is worth another try.
type noConnection struct{ error }

func (noConnection) Temporary() bool { return true }

func (e noConnection) Unwrap() error { return e.error }
