package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

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
	// The libraries would read these themselves, and use what can be read of a broken one (decision T6).
	for _, variable := range []string{"OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME"} {
		if err := os.Unsetenv(variable); err != nil {
			return nil, err
		}
	}
	return telemetry.Start(settings, slog.New(slog.NewTextHandler(log, nil)))
}
