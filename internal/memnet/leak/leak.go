// Package leak fails a package's tests when a goroutine, or a process, outlives them.
//
//	func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }
package leak

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines may take to end after the last test, for example while they wait for a connection
// to close.
const patience = 5 * time.Second

// Run runs the tests and returns the exit status. If the tests pass but leave goroutines behind, it prints their
// stacks to standard error and returns 1.
func Run(m *testing.M) int {
	if status := m.Run(); status != 0 {
		return status
	}
	left := Wait(patience)
	if len(left) == 0 {
		return 0
	}
	fmt.Fprintf(os.Stderr, "leak: %d goroutines outlived the tests:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
	return 1
}

// Wait waits until no goroutines are left, at most for the given time, and returns the stacks of the remaining ones.
// It ignores the caller and the goroutines of the testing package and the runtime.
func Wait(patience time.Duration) []string {
	deadline := time.Now().Add(patience)
	pause := time.Millisecond
	for {
		left := others()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause) // Go does not signal the end of a goroutine
		pause = min(2*pause, 100*time.Millisecond)
	}
}

func others() []string {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	var left []string
	for i, stack := range bytes.Split(buf[:n], []byte("\n\n")) {
		if i > 0 && !expected(string(stack)) { // the first is the caller's own
			left = append(left, string(stack))
		}
	}
	return left
}

// expected reports whether a goroutine belongs to the test machinery.
func expected(stack string) bool {
	for _, mark := range []string{
		"testing.(*M).",         // the test runner and its alarm
		"testing.RunTests",      //
		"testing/internal/",     // -test.fuzz and coverage
		"internal/fuzz.",        // workers of a fuzz run
		"os/signal.signal_recv", // the runtime's signal goroutine, which never ends after the first Notify
		"os/signal.loop",        //
		"runtime.ReadTrace",     // -test.trace
		"runtime/pprof.",        // -test.cpuprofile
	} {
		if strings.Contains(stack, mark) {
			return true
		}
	}
	return false
}
