//go:build unix

package harness_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

const (
	roleVariable   = "LOCKSTEP_TEST_FAUX"
	reportVariable = "LOCKSTEP_TEST_REPORT"
)

// TestMain is two programs. With a role in its environment the test binary is a server; without, it runs the tests and
// then looks whether they have left anything behind.
func TestMain(m *testing.M) {
	if role, ok := os.LookupEnv(roleVariable); ok {
		os.Exit(play(role))
	}
	status := leak.Run(m)
	if left := leak.Processes(); left != "" && status == 0 {
		fmt.Fprintln(os.Stderr, "the tests have left behind:", left)
		status = 1
	}
	os.Exit(status)
}

func play(role string) int {
	if role == "tests" {
		playTests(os.Args[1], os.Args[2:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := &faux.Process{
		Log: os.Stderr, Exit: os.Exit, Report: os.Getenv(reportVariable),
		Again: again,
	}
	if len(os.Args) > 1 {
		p.Listen = os.Args[1]
	}
	return p.Play(ctx, role)
}

// again starts this program in another role, and waits until that has something to say.
func again(role string) error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdout, cmd.Stderr = os.Stdout, in
	err = cmd.Start()
	in.Close()
	if err == nil {
		_, err = out.Read(make([]byte, 1))
	}
	return err
}
