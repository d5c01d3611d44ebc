package telemetry

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func lookup(env map[string]string) Lookup {
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

// with returns an environment in which telemetry is on.
func with(pairs ...string) map[string]string {
	env := map[string]string{endpoint: "http://collector:4318"}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return env
}

// The cases are of decisions T1 to T3.
func TestTelemetryIsOffWithoutAnEndpoint(t *testing.T) {
	for _, env := range []map[string]string{
		nil,
		{endpoint: ""},
		{"OTEL_TRACES_EXPORTER": "console", "OTEL_BSP_SCHEDULE_DELAY": "soon", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		with("OTEL_SDK_DISABLED", "True", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
		with("OTEL_TRACES_EXPORTER", "none", "OTEL_METRICS_EXPORTER", "None", "OTEL_LOGS_EXPORTER", "NONE", "OTEL_BSP_SCHEDULE_DELAY", "soon"),
	} {
		s, warnings := Read(lookup(env))
		if s.On() || len(warnings) > 0 {
			t.Errorf("Read(%v) is on: %t, and warns of %q; want it off without a warning", env, s.On(), warnings)
		}
	}
}

func TestEachSignalHasItsEndpoint(t *testing.T) {
	for _, c := range []struct {
		env                   map[string]string
		traces, metrics, logs string
	}{
		{with(), "http://collector:4318/v1/traces", "http://collector:4318/v1/metrics", "http://collector:4318/v1/logs"},
		{with(endpoint, "https://c/base/?k=v"), "https://c/base/v1/traces?k=v", "https://c/base/v1/metrics?k=v", "https://c/base/v1/logs?k=v"},
		{with("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/a?b#c"), "http://t/a?b#c", "http://collector:4318/v1/metrics", "http://collector:4318/v1/logs"},
		{map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://l"}, "", "", "http://l/"},
		{with("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "ftp://m"), "http://collector:4318/v1/traces", "", "http://collector:4318/v1/logs"},
	} {
		s, _ := Read(lookup(c.env))
		for i, to := range []*target{s.traces, s.metrics, s.logs} {
			got, want := "", []string{c.traces, c.metrics, c.logs}[i]
			if to != nil {
				got = to.url.String()
			}
			if got != want {
				t.Errorf("Read(%v): signal %d goes to %q, want %q", c.env, i, got, want)
			}
		}
	}
}

// The values of endpoints and headers are not in it (decisions T4, T5).
func TestAWarningNamesTheVariable(t *testing.T) {
	const secret = "canary"
	for name, values := range map[string][]string{
		endpoint:                             {"canary", "ftp://canary", "http://", "http://u:canary@/", "%zz"},
		"OTEL_TRACES_EXPORTER":               {"console", "otlp,console"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":        {"grpc", "http/json"},
		"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL":   {"grpc"},
		"OTEL_EXPORTER_OTLP_HEADERS":         {"canary", "x=1,canary", "x=%zzcanary", "a b=canary", "x=canary%0a"},
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":  {"=canary"},
		"OTEL_EXPORTER_OTLP_TIMEOUT":         {"0", "-1", "1.5", "soon", "+1"},
		"OTEL_EXPORTER_OTLP_COMPRESSION":     {"brotli"},
		"OTEL_RESOURCE_ATTRIBUTES":           {"a", "a=1,b", "a=%z", "=b"},
		"OTEL_TRACES_SAMPLER":                {"sometimes"},
		"OTEL_BSP_SCHEDULE_DELAY":            {"0"},
		"OTEL_BSP_EXPORT_TIMEOUT":            {"x"},
		"OTEL_BLRP_MAX_QUEUE_SIZE":           {"-2"},
		"OTEL_BLRP_MAX_EXPORT_BATCH_SIZE":    {"1e3"},
		"OTEL_METRIC_EXPORT_INTERVAL":        {"0"},
		"OTEL_METRIC_EXPORT_TIMEOUT":         {"a\nb"},
		"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": {"0"},
	} {
		for _, value := range values {
			_, warnings := Read(lookup(with(name, value)))
			if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "warning: "+name+" ") || strings.ContainsAny(warnings[0], "\n") {
				t.Errorf("%s=%q: the warnings are %q, want one line about the variable", name, value, warnings)
			}
			if strings.Contains(strings.Join(warnings, ""), secret) {
				t.Errorf("%s=%q: the warning has the value: %q", name, value, warnings)
			}
		}
	}
}

// Decision T7.
func TestARatioIsANumberFromZeroToOne(t *testing.T) {
	for value, want := range map[string]float64{"": 1, "0": 0, "1": 1, "0.25": 0.25, ".5": 0.5, "1e-1": 0.1, "2": 1, "-0": 1, "NaN": 1, "inf": 1, "0x1p-1": 1, "half": 1} {
		s, warnings := Read(lookup(with("OTEL_TRACES_SAMPLER", "TraceIdRatio", "OTEL_TRACES_SAMPLER_ARG", value)))
		bad := strings.ContainsAny(value, "2-Nixh") && value != "0.25" && value != "1e-1"
		if s.sampler != byRatio || s.ratio != want || (len(warnings) > 0) != bad {
			t.Errorf("ratio %q: %s %v with warnings %q, want %v, and a warning: %t", value, s.sampler, s.ratio, warnings, want, bad)
		}
	}
}

// Decision T10.
func TestNumbersHaveDefaultsAndLimits(t *testing.T) {
	s, _ := Read(lookup(with()))
	if want := (batches{delay: 5 * time.Second, timeout: 30 * time.Second, queue: 2048, batch: 512}); s.spans != want {
		t.Errorf("spans: %+v, want %+v", s.spans, want)
	}
	if want := (batches{delay: time.Second, timeout: 30 * time.Second, queue: 2048, batch: 512}); s.records != want {
		t.Errorf("records: %+v, want %+v", s.records, want)
	}
	if s.interval != time.Minute || s.metricsTimeout != 30*time.Second || s.traces.timeout != 10*time.Second || s.traces.gzip {
		t.Errorf("metrics every %s for %s, exports for %s, gzip %t", s.interval, s.metricsTimeout, s.traces.timeout, s.traces.gzip)
	}
	const most = "99999999999999999999"
	s, warnings := Read(lookup(with("OTEL_BSP_MAX_QUEUE_SIZE", most, "OTEL_BSP_SCHEDULE_DELAY", most, "OTEL_BLRP_MAX_QUEUE_SIZE", "5")))
	if s.spans.queue != maxQueue || s.spans.delay != (1<<31-1)*time.Millisecond || s.records.batch != 5 || len(warnings) > 0 {
		t.Errorf("spans: %+v, records: %+v, warnings: %q", s.spans, s.records, warnings)
	}
}

// Decisions T5 and T6.
func TestTheResourceAndTheHeadersAreDecoded(t *testing.T) {
	const attributes = "OTEL_RESOURCE_ATTRIBUTES"
	resource := func(env map[string]string) map[string]string {
		s, _ := Read(lookup(env))
		all := map[string]string{}
		for _, p := range s.resource {
			all[p.name] = p.value
		}
		return all
	}
	for _, c := range []struct{ env, want map[string]string }{
		{with(), map[string]string{"service.name": "agentd", "service.version": "1.16.0"}},
		{with(attributes, "service.version=2, a = b%2Cc ,"), map[string]string{"service.name": "agentd", "service.version": "2", "a": "b,c"}},
		{with(attributes, "service.name=x,broken"), map[string]string{"service.name": "agentd", "service.version": "1.16.0"}},
		{with(attributes, "service.name=x", "OTEL_SERVICE_NAME", "y"), map[string]string{"service.name": "y", "service.version": "1.16.0"}},
	} {
		if diff := cmp.Diff(c.want, resource(c.env)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.env, diff)
		}
	}
	s, _ := Read(lookup(with("OTEL_EXPORTER_OTLP_HEADERS", "a=b%20c+d,bad,e=f=g", "OTEL_EXPORTER_OTLP_LOGS_HEADERS", "h=i")))
	if want := (map[string]string{"a": "b c+d", "e": "f=g"}); !maps.Equal(s.traces.headers, want) {
		t.Errorf("headers of traces: %v, want %v", s.traces.headers, want)
	}
	if want := (map[string]string{"h": "i"}); !maps.Equal(s.logs.headers, want) {
		t.Errorf("headers of logs: %v, want %v", s.logs.headers, want)
	}
}
