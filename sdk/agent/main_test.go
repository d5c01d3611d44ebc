//go:build linux

package agentsdk_test

import (
	"os"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

// The test binary is also the CLI that the tests start, and a program that uses the SDK.
func TestMain(m *testing.M) {
	if name := os.Getenv("FAKE_CLI"); name != "" {
		os.Exit(fakes[name](newFake()))
	}
	if os.Getenv("FAKE_HOST") != "" {
		os.Exit(host())
	}
	os.Exit(leak.RunPrograms(m))
}
