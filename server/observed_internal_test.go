package server

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	"github.com/lockstep-dev/lockstep/server/httpapi/auth"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// TestARequestCostsNothingWithoutTelemetry compares a server without telemetry with one that exports logs alone, and so has the
// rest of telemetry too. Neither may allocate for a request what only spans and metrics need (decision T1).
func TestARequestCostsNothingWithoutTelemetry(t *testing.T) {
	cost := func(variable string) float64 {
		settings, warnings := telemetry.Read(func(name string) (string, bool) {
			switch name {
			case variable:
				return "http://127.0.0.1:1", true
			case "OTEL_EXPORTER_OTLP_TIMEOUT":
				return "1", true // the collector is absent
			}
			return "", false
		})
		if len(warnings) > 0 {
			t.Fatal(warnings)
		}
		tel, err := telemetry.Start(settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tel.Shutdown(context.Background()) }()
		handler := router{key: auth.NewKey("k"), access: access.Rules{}, telemetry: tel, log: slog.New(tel.Handler(slog.DiscardHandler))}.handler()
		request := httptest.NewRequest(http.MethodGet, "/nowhere", nil)
		request.Header.Set(auth.Header, "k")
		least := math.Inf(1) // of many: other goroutines allocate too, and under the race detector pools lose what they have
		for range 200 {
			least = min(least, testing.AllocsPerRun(1, func() {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, request)
				if answer.Code != http.StatusNotFound {
					t.Fatalf("status %d, want 404", answer.Code)
				}
			}))
		}
		return least
	}
	off, logs, metrics := cost(""), cost("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"), cost("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
	if off != logs || metrics <= off {
		t.Errorf("a request allocates %v times without telemetry, %v times with logs and %v times with metrics; want the same twice, and then more", off, logs, metrics)
	}
}
