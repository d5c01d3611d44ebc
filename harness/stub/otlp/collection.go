package otlp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// MaxItems is the number of spans, of log records or of points with which a collection accepts nothing more.
const MaxItems = 10_000

// A Collection is what one target has exported. The zero value is ready to use, by one goroutine at a time.
type Collection struct {
	spans   []*tracepb.Span
	known   map[spanID]bool
	records []*logspb.LogRecord
	points  map[string]*point
	// signals has which signals each resource and scope has exported.
	signals map[string]map[string]map[string]bool
}

type spanID struct{ trace, span string }

// ErrFull says that a collection accepts nothing more.
var ErrFull = fmt.Errorf("the stub has %d spans, log records or points, and keeps no more", MaxItems)

// Add adds an export. A span that is already there was sent again, and is not added.
func (c *Collection) Add(e *Export) error {
	if len(c.spans) >= MaxItems || len(c.records) >= MaxItems || len(c.points) >= MaxItems {
		return ErrFull
	}
	if c.known == nil {
		c.known, c.points, c.signals = map[spanID]bool{}, map[string]*point{}, map[string]map[string]map[string]bool{}
	}
	for _, r := range e.traces.GetResourceSpans() {
		for _, s := range r.GetScopeSpans() {
			c.noteScope("traces", r.GetResource(), s.GetScope(), len(s.GetSpans()))
			for _, span := range s.GetSpans() {
				if id := (spanID{string(span.TraceId), string(span.SpanId)}); !c.known[id] {
					c.known[id] = true
					c.spans = append(c.spans, span)
				}
			}
		}
	}
	for _, r := range e.logs.GetResourceLogs() {
		for _, s := range r.GetScopeLogs() {
			c.noteScope("logs", r.GetResource(), s.GetScope(), len(s.GetLogRecords()))
			c.records = append(c.records, s.GetLogRecords()...)
		}
	}
	for _, r := range e.metrics.GetResourceMetrics() {
		for _, s := range r.GetScopeMetrics() {
			c.noteScope("metrics", r.GetResource(), s.GetScope(), len(s.GetMetrics()))
			for _, m := range s.GetMetrics() {
				c.addMetric(string(encode(attributes(r.GetResource().GetAttributes(), 0))), m)
			}
		}
	}
	return nil
}

// noteScope notes that a scope of a resource has exported n items of a signal.
func (c *Collection) noteScope(signal string, r *resourcepb.Resource, s *commonpb.InstrumentationScope, n int) {
	if n == 0 {
		return
	}
	resource := string(encode(attributes(r.GetAttributes(), 0)))
	if c.signals[resource] == nil {
		c.signals[resource] = map[string]map[string]bool{}
	}
	scope := s.GetName()
	if s.GetVersion() != "" {
		scope += " " + s.GetVersion()
	}
	if c.signals[resource][scope] == nil {
		c.signals[resource][scope] = map[string]bool{}
	}
	c.signals[resource][scope][signal] = true
}

// Log is the kind of an item that is a log record.
const Log = "log"

// An Item is one thing that can be compared, as a JSON object. It has a member with the name of its kind.
type Item struct {
	Kind string // span, metric, log or resource
	JSON json.RawMessage
	At   time.Time // when it began; zero when it has no time
}

// Items returns what has been collected until now: resources, trees of spans in the order in which they began, points by
// the names of their metrics, and at last log records in the order of their times.
func (c *Collection) Items() []Item {
	var out []Item
	for _, resource := range slices.Sorted(maps.Keys(c.signals)) {
		scopes := map[string]any{}
		for scope, signals := range c.signals[resource] {
			scopes[scope] = slices.Sorted(maps.Keys(signals))
		}
		out = append(out, Item{Kind: "resource", JSON: encode(map[string]any{"resource": json.RawMessage(resource), "scopes": scopes})})
	}
	f := newForest(c.spans)
	out = append(out, f.items()...)
	out = append(out, c.metricItems()...)
	return append(out, c.logItems(f)...)
}

// logItems returns the log records.
func (c *Collection) logItems(f *forest) []Item {
	records := slices.Clone(c.records)
	slices.SortStableFunc(records, func(a, b *logspb.LogRecord) int { return compareTimes(timeOf(a), timeOf(b)) })
	var out []Item
	for _, r := range records {
		item := map[string]any{"log": value(r.GetBody(), 0), "severity": severity(r.GetSeverityNumber()), "attributes": attributes(r.GetAttributes(), 0)}
		if r.GetEventName() != "" {
			item["event"] = r.GetEventName()
		}
		if len(r.GetTraceId()) > 0 {
			item["trace"], item["span"] = f.names(r.GetTraceId(), r.GetSpanId())
		}
		out = append(out, Item{Kind: Log, JSON: encode(item), At: unix(timeOf(r))})
	}
	return out
}

func timeOf(r *logspb.LogRecord) uint64 {
	if r.GetTimeUnixNano() != 0 {
		return r.GetTimeUnixNano()
	}
	return r.GetObservedTimeUnixNano()
}

// severity returns the name of a severity's range, and its place in it unless it is the first (OTLP's data model of logs,
// "Field: SeverityNumber").
func severity(n logspb.SeverityNumber) string {
	names := [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
	at := int(n) - 1
	if at < 0 || at >= 4*len(names) {
		return fmt.Sprint(int(n))
	}
	if at%4 > 0 {
		return fmt.Sprint(names[at/4], at%4+1)
	}
	return names[at/4]
}

func unix(nano uint64) time.Time {
	if nano == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(nano))
}
