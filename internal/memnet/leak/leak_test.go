package leak_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestWaitNamesTheGoroutineThatStayed(t *testing.T) {
	release := make(chan struct{})
	go func() { <-release }()
	left := leak.Wait(20 * time.Millisecond)
	found := false
	for _, stack := range left {
		found = found || strings.Contains(stack, "TestWaitNamesTheGoroutineThatStayed.func1")
	}
	if !found {
		t.Errorf("Wait: %d stacks, none of them of the goroutine this test started:\n%s", len(left), strings.Join(left, "\n\n"))
	}
	close(release)
}
