//go:build unix

package examples

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// TestTheAgentUsesTheTools builds the example and the CLI that plays its script, without a download, and runs them.
func TestTheAgentUsesTheTools(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bin := t.TempDir()
	program, cli := filepath.Join(bin, "agent-tools"), filepath.Join(bin, "agentcli")
	for _, args := range [][]string{{"build", "-C", "agent-tools", "-o", program, "."}, {"build", "-o", cli, "../cmd/agentcli"}} {
		build := exec.CommandContext(ctx, "go", args...)
		build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = "agent-tools"
	cmd.Env = append(os.Environ(), "AGENT_CLI="+cli, "AGENTCLI_SCRIPT=script.yaml")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if *update {
		testfile.Write(t, "agent-tools/output.txt", string(out))
		return
	}
	if diff := cmp.Diff(testfile.Text(t, "agent-tools/output.txt"), string(out)); diff != "" {
		t.Errorf("the example prints something else (-want +got):\n%s", diff)
	}
}
