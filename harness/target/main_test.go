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

// TestMain runs one of two programs. If the environment names a role, the test binary is one of the servers in
// roles_test.go. Otherwise it runs the tests and then checks that they have left nothing running.
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

// reservations describes the ports that are still reserved, or returns "".
func reservations() string {
	reserved.Lock()
	defer reserved.Unlock()
	if len(reserved.ports) == 0 {
		return ""
	}
	return fmt.Sprint("reserved ports: ", reserved.ports)
}

// goroutines returns the goroutines that are still in this package. A goroutine that is done may need a moment to
// return.
func goroutines() string {
	var left []string
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); runtime.Gosched() {
		left = nil
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, stack := range strings.Split(string(stacks), "\n\n")[1:] { // the first is the current one
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
