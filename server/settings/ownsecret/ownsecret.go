// Package ownsecret says which variables of the environment are secrets of the server itself. No client can read them, and
// no process that the server starts gets them (decisions G32, G43, X10, T5).
package ownsecret

import (
	"slices"
	"strings"
)

var names = []string{
	"GOOSE_SERVER__SECRET_KEY",
	"OTEL_EXPORTER_OTLP_HEADERS",
	"OTEL_EXPORTER_OTLP_TRACES_HEADERS",
	"OTEL_EXPORTER_OTLP_METRICS_HEADERS",
	"OTEL_EXPORTER_OTLP_LOGS_HEADERS",
}

// Is reports whether a variable is such a secret.
func Is(variable string) bool { return slices.Contains(names, variable) }

// Without returns an environment, in the form of os.Environ, without these secrets.
func Without(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return Is(name)
	})
}
