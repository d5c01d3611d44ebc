package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// recorded returns telemetry with traces alone, and its spans.
func recorded() (*Telemetry, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	return &Telemetry{tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("t"), continues: true}, spans
}

func attributesOf(span sdktrace.ReadOnlySpan) map[string]string {
	all := map[string]string{}
	for _, a := range span.Attributes() {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// TestTelemetryThatIsOffAllocatesNothing walks through every place in the server that calls this package (decision T1).
func TestTelemetryThatIsOffAllocatesNothing(t *testing.T) {
	var off *Telemetry
	ctx := t.Context()
	failure := "-32603: no"
	next := slog.DiscardHandler
	allocated := testing.AllocsPerRun(100, func() {
		if off.Requests() {
			t.Error("requests are recorded")
		}
		running, agent := off.Agent(ctx, "openai", "1")
		answering, call := off.Chat(Answering(running), "openai", "gpt-4o", "http://h/")
		call.End(Timeout)
		within, tool := off.Tool(answering, "t", "1")
		MarkToolError(within)
		tool.End(within, &failure)
		_ = off.Outside(Within(ctx, within), "1")
		agent.End(running, Other)
		if off.Handler(next) != next {
			t.Error("a logger exports")
		}
	})
	if err := off.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if allocated != 0 {
		t.Errorf("a reply without telemetry allocates %v times, want 0", allocated)
	}
}

// Decision T8.
func TestOnlyOneValidTraceparentContinuesATrace(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, c := range []struct {
		headers   http.Header
		continues bool
		want      string
	}{
		{http.Header{"Traceparent": {parent}, "Tracestate": {"a=b"}}, true, "00f067aa0ba902b7"},
		{http.Header{"Traceparent": {parent}}, false, "0000000000000000"},
		{http.Header{"Traceparent": {parent, parent}}, true, "0000000000000000"},
		{http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"}}, true, "0000000000000000"},
		{http.Header{}, true, "0000000000000000"},
	} {
		tel, spans := recorded()
		tel.continues = c.continues
		_, span := tel.Request(&http.Request{Method: http.MethodGet, RequestURI: "/", Header: c.headers})
		span.End("", 0)
		got := spans.Ended()[0]
		if got.Parent().SpanID().String() != c.want || got.SpanContext().TraceState().Len() > 0 {
			t.Errorf("%v: the parent is %s and the state %q, want %s and none", c.headers, got.Parent().SpanID(), got.SpanContext().TraceState(), c.want)
		}
	}
}

// Decision T14.
func TestARequestHasItsPathAndItsAddress(t *testing.T) {
	for _, c := range []struct{ target, host, path, address, port string }{
		{"/a/b?c=/d?e", "h:1", "/a/b", "h", "1"},
		{"/%2f\xc3\xbc\x7f", "[::1]:2", "/%2f%C3%BC%7F", "::1", "2"},
		{"/a\x01 \"b", "h", "/a%01%20\"b", "h", ""},
		{"http://x/a?b", "x", "/a", "x", ""},
		{"http://x?b", "x:", "", "x", ""},
		{"/a://b", "x:y", "/a://b", "x", ""},
		{"*", "", "*", "", ""},
	} {
		tel, spans := recorded()
		_, span := tel.Request(&http.Request{Method: "BREW", RequestURI: c.target, Host: c.host, Header: http.Header{}})
		span.End("/r", http.StatusInternalServerError)
		got := spans.Ended()[0]
		a := attributesOf(got)
		if a["url.path"] != c.path || a["server.address"] != c.address || a["server.port"] != c.port {
			t.Errorf("%q to %q: %v", c.target, c.host, a)
		}
		if got.Name() != "HTTP /r" || a["http.request.method"] != "_OTHER" || a["http.request.method_original"] != "BREW" || a["error.type"] != "500" {
			t.Errorf("%q: the span %s has %v", c.target, got.Name(), a)
		}
	}
}

// Decision T15.
func TestTheErrorOfAReplyIsThatOfItsLastAnswer(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		answers []string
		ctx     context.Context
		failure string
		want    string
	}{
		{[]string{"429", ""}, t.Context(), "", ""},
		{[]string{"", "503"}, t.Context(), Other, "503"},
		{[]string{""}, ended, Other, Cancelled},
		{nil, t.Context(), Other, Other},
		{[]string{ConnectionError}, ended, "", ConnectionError},
	} {
		tel, spans := recorded()
		ctx, agent := tel.Agent(t.Context(), "xai", "1")
		for _, errorType := range c.answers {
			_, call := tel.Chat(Answering(ctx), "xai", "m", "https://h/")
			call.End(errorType)
			call.End(Other) // does nothing
		}
		sampled := Within(t.Context(), ctx) // a call for a tool does not count
		_, call := tel.Chat(sampled, "xai", "m", "https://h/")
		call.End(Timeout)
		agent.End(c.ctx, c.failure)
		all := spans.Ended()
		last := all[len(all)-1]
		if got := attributesOf(last)["error.type"]; got != c.want || last.Status().Description != "" || attributesOf(last)["gen_ai.provider.name"] != "x_ai" {
			t.Errorf("answers %q, failure %q: error.type is %q, want %q", c.answers, c.failure, got, c.want)
		}
		for _, span := range all[:len(all)-1] {
			if a := attributesOf(span); span.Parent().SpanID() != last.SpanContext().SpanID() || a["server.port"] != "443" || a["gen_ai.conversation.id"] != "1" {
				t.Errorf("the call %v is not one of the agent", a)
			}
		}
	}
}

// Decision T17.
func TestOnlyTheCodeOfAToolsErrorIsExported(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		failure *string
		marked  bool
		want    string
	}{
		{nil, false, ""}, {nil, true, toolError}, {text("-32603: no 7"), true, "-32603"}, {text("404: x"), false, "404"},
		{text("no"), false, Other}, {text("5 apples"), false, Other}, {text(""), false, Other},
	} {
		tel, spans := recorded()
		ctx, tool := tel.Tool(t.Context(), "t", "1")
		if c.marked {
			MarkToolError(ctx)
		}
		tool.End(ctx, c.failure)
		if got := attributesOf(spans.Ended()[0])["error.type"]; got != c.want {
			t.Errorf("%v, marked %t: error.type is %q, want %q", c.failure, c.marked, got, c.want)
		}
	}
}

// Decision T20.
func TestALineHasTheIDsOfItsSpan(t *testing.T) {
	tel, _ := recorded()
	var out strings.Builder
	log := slog.New(tel.Handler(slog.NewTextHandler(&out, nil))).With("a", "b")
	ctx, span := tel.Tool(t.Context(), "t", "1")
	log.WarnContext(ctx, "one")
	log.Warn("two")
	span.End(ctx, nil)
	ids := trace.SpanContextFromContext(ctx)
	lines := strings.Split(out.String(), "\n")
	if !strings.HasSuffix(lines[0], "msg=one a=b trace_id="+ids.TraceID().String()+" span_id="+ids.SpanID().String()) || !strings.HasSuffix(lines[1], "msg=two a=b") {
		t.Errorf("the lines are %q", lines)
	}
}
