package run

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// broken is what a step says of a panic that was recovered: the cause, and the places that it came through, the innermost
// first.
func broken(cause any) error {
	const most = 8
	pcs := make([]uintptr, 4*most)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var places []string
	for more := true; more && len(places) < most; {
		var f runtime.Frame
		f, more = frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			places = append(places, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line))
		}
	}
	return &faultError{fmt.Sprintf("lockstep itself failed: %v, at %s", cause, strings.Join(places, ", "))}
}
