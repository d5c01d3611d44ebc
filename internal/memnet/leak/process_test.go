//go:build unix

package leak_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestProcessesFindsRemainingProcesses(t *testing.T) {
	if left := leak.Processes(); left != "" {
		t.Fatalf("before there is anything: %s", left)
	}
	hold, holder, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	cmd := exec.Command("/bin/sh", "-c", "read -r _")
	cmd.Stdin = hold
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if left := leak.Processes(); !strings.Contains(left, "a child process") {
		t.Errorf("of a child that runs it says %q", left)
	}
	holder.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("the shell has read a line")
	}
	if left := leak.Processes(); left != "" {
		t.Errorf("of a child that was waited for it says %q", left)
	}
}
