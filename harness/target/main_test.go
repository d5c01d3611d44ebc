//go:build unix

package target

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

// TestMain is two programs. With the name of a role in its environment the test binary is one of the servers of
// roles_test.go; without, it runs the tests and then looks whether they have left anything behind.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		os.Exit(0)
	}
	code := m.Run()
	for _, left := range []string{leak.Processes(), goroutines(), reservations()} {
		if left != "" && code == 0 {
			fmt.Fprintln(os.Stderr, "the tests have left behind:", left)
			code = 1
		}
	}
	os.Exit(code)
}

// reservations says whether a port is still reserved.
func reservations() string {
	reserved.Lock()
	defer reserved.Unlock()
	if len(reserved.ports) == 0 {
		return ""
	}
	return fmt.Sprint("reserved ports: ", reserved.ports)
}

// goroutines returns the goroutines that are still in this package. One that has done its work may need a moment to
// return from its last function.
func goroutines() string {
	var left []string
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); runtime.Gosched() {
		left = nil
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, stack := range strings.Split(string(stacks), "\n\n")[1:] { // the first is ours
			if strings.Contains(stack, "harness/target.") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return ""
		}
	}
	return "goroutines:\n" + strings.Join(left, "\n\n")
}
