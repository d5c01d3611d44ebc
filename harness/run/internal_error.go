package run

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// internalError describes a recovered panic: its cause, and the innermost calls that led to it.
func internalError(cause any) error {
	const maxPlaces = 8
	pcs := make([]uintptr, 4*maxPlaces)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var places []string
	for more := true; more && len(places) < maxPlaces; {
		var f runtime.Frame
		f, more = frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			places = append(places, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line))
		}
	}
	return &faultError{fmt.Sprintf("lockstep itself failed: %v, at %s", cause, strings.Join(places, ", "))}
}
