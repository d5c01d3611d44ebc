package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The libraries would refuse to start with this environment, and export an attribute of the broken list (decisions T4, T6).
func TestTheLibrariesOfTelemetryDoNotReadTheEnvironment(t *testing.T) {
	site := httptest.NewTLSServer(http.NotFoundHandler())
	defer site.Close()
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/v1/traces")
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "a=b,broken")
	var log strings.Builder
	observed, err := startTelemetry(os.LookupEnv, &log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = observed.Shutdown(t.Context()) }()
	if !observed.Requests() || strings.Count(log.String(), "warning: OTEL_RESOURCE_ATTRIBUTES ") != 1 {
		t.Errorf("telemetry is on: %t, and the log is %q", observed.Requests(), log.String())
	}
	if value, set := os.LookupEnv("OTEL_RESOURCE_ATTRIBUTES"); set {
		t.Errorf("the libraries read %q", value)
	}
}
