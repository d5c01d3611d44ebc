package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"
)

// Handler returns a handler that also exports what it handles (decision T19), and adds the IDs of the trace and the span
// while traces are on (decision T20).
func (t *Telemetry) Handler(next slog.Handler) slog.Handler {
	if t == nil {
		return next
	}
	return handler{next, t}
}

type handler struct {
	slog.Handler
	telemetry *Telemetry
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if h.telemetry.logger != nil {
		h.telemetry.logger.Emit(ctx, exported(r))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// exported returns what is exported of a record: not its attributes, which may have texts of others.
func exported(r slog.Record) otellog.Record {
	severity, name := otellog.SeverityInfo, "INFO"
	switch {
	case r.Level >= slog.LevelError:
		severity, name = otellog.SeverityError, "ERROR"
	case r.Level >= slog.LevelWarn:
		severity, name = otellog.SeverityWarn, "WARN"
	}
	var record otellog.Record
	record.SetTimestamp(r.Time)
	record.SetSeverity(severity)
	record.SetSeverityText(name)
	record.SetBody(attribute.StringValue(valid(r.Message)))
	return record
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.telemetry}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.telemetry}
}
