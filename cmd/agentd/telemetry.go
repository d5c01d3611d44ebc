package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// startTelemetry starts what the environment asks for, and warns of what it cannot (decision T4). It returns nil if
// nothing is exported.
func startTelemetry(env lookup, log io.Writer) (*telemetry.Telemetry, error) {
	settings, warnings := telemetry.Read(telemetry.Lookup(env))
	for _, warning := range warnings {
		fmt.Fprintln(log, warning)
	}
	if !settings.On() {
		return nil, nil
	}
	if err := hideFromLibraries(); err != nil {
		return nil, err
	}
	return telemetry.Start(settings, slog.New(slog.NewTextHandler(log, nil)))
}

// hideFromLibraries removes the variables that the libraries would read themselves, by other rules: they use what can be read of
// a broken attribute (decision T6), and fail if there is a certificate for a URL without TLS.
func hideFromLibraries() error {
	var problems []error
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") || name == "OTEL_RESOURCE_ATTRIBUTES" || name == "OTEL_SERVICE_NAME" {
			problems = append(problems, os.Unsetenv(name))
		}
	}
	return errors.Join(problems...)
}
