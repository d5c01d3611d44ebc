package telemetry

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// A Request is a request of a client that is being answered (decision T14).
type Request struct {
	telemetry *Telemetry
	ctx       context.Context
	span      trace.Span // nil if traces are off
	method    string
	begun     time.Time
	end       sync.Once
}

// Requests reports whether requests are recorded.
func (t *Telemetry) Requests() bool { return t != nil && (t.tracer != nil || t.metrics != nil) }

// methods are those of RFC 9110 and RFC 5789.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodConnect, http.MethodOptions,
	http.MethodTrace, http.MethodPatch,
}

// Request begins the span of a request, and returns the request with the span in its context.
func (t *Telemetry) Request(r *http.Request) (*http.Request, *Request) {
	q := &Request{telemetry: t, ctx: r.Context(), method: r.Method, begun: time.Now()}
	if !slices.Contains(methods, q.method) {
		q.method = Other
	}
	t.open.Add(1)
	if t.tracer == nil {
		return r, q
	}
	attributes := []attribute.KeyValue{
		attribute.String("http.request.method", q.method),
		attribute.String("url.path", pathOf(r.RequestURI)),
		attribute.String("url.scheme", "http"),
	}
	if q.method == Other {
		attributes = append(attributes, text("http.request.method_original", r.Method))
	}
	q.ctx, q.span = t.tracer.Start(t.parent(r), q.named(""), trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(q.begun),
		trace.WithAttributes(append(attributes, address(r.Host, "")...)...))
	return r.WithContext(q.ctx), q
}

// parent returns the context of a request with the span of traceparent, if it has exactly one that counts (decision T8).
// tracestate is not read, because it would be exported (decision T13).
func (t *Telemetry) parent(r *http.Request) context.Context {
	given := r.Header.Values("Traceparent")
	if !t.continues || len(given) != 1 {
		return r.Context()
	}
	return propagation.TraceContext{}.Extract(r.Context(), propagation.MapCarrier{"traceparent": given[0]})
}

// named returns the name of the span.
func (q *Request) named(route string) string {
	method := q.method
	if method == Other {
		method = "HTTP"
	}
	if route == "" {
		return method
	}
	return method + " " + route
}

// End ends the span. An empty route or a status of 0 means that there is none.
func (q *Request) End(route string, status int) {
	q.end.Do(func() {
		defer q.telemetry.open.Done()
		shared := []attribute.KeyValue{}
		if route != "" {
			shared = append(shared, attribute.String("http.route", route))
		}
		if status != 0 {
			shared = append(shared, attribute.Int("http.response.status_code", status))
		}
		if status >= http.StatusInternalServerError {
			shared = append(shared, attribute.String("error.type", strconv.Itoa(status)))
		}
		now := time.Now()
		if q.span != nil {
			q.span.SetName(q.named(route))
			q.span.SetAttributes(shared...)
			if status >= http.StatusInternalServerError {
				q.span.SetStatus(codes.Error, "")
			}
			q.span.End(trace.WithTimestamp(now))
		}
		q.telemetry.metrics.request(q.ctx, now.Sub(q.begun), append(shared,
			attribute.String("http.request.method", q.method), attribute.String("url.scheme", "http")))
	})
}

// pathOf returns the path of a request target as it was sent. What is not visible ASCII is percent-encoded.
func pathOf(target string) string {
	if scheme, rest, absolute := strings.Cut(target, "://"); absolute && !strings.ContainsAny(scheme, "/?#") {
		at := strings.IndexAny(rest, "/?#")
		if at < 0 {
			at = len(rest)
		}
		target = rest[at:]
	}
	target, _, _ = strings.Cut(target, "?")
	var b strings.Builder
	for i := range len(target) {
		if c := target[i]; c > ' ' && c <= '~' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		}
	}
	return b.String()
}

// address returns the attributes of an authority, as far as they are in it or in the default port.
func address(authority, port string) (attributes []attribute.KeyValue) {
	host := authority
	if at := strings.LastIndexByte(authority, ':'); at > strings.LastIndexByte(authority, ']') {
		host, port = authority[:at], authority[at+1:]
	}
	if host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"); host != "" {
		attributes = append(attributes, text("server.address", host))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		attributes = append(attributes, attribute.Int64("server.port", int64(n)))
	}
	return attributes
}
