//go:build unix

package harness_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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
	for _, left := range []string{children(), strays()} {
		if left != "" && status == 0 {
			fmt.Fprintln(os.Stderr, "the tests have left behind:", left)
			status = 1
		}
	}
	os.Exit(status)
}

func play(role string) int {
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

// children says whether the test process has a child, collected or not.
func children() string {
	pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	if err == syscall.ECHILD {
		return ""
	}
	return fmt.Sprintf("a child process (wait4: %d, %v)", pid, err)
}

// strays says whether any process of the machine still runs this test binary. It can tell on Linux only.
func strays() string {
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		exe, err := os.Readlink(link)
		if err == nil && exe == self && link != fmt.Sprintf("/proc/%d/exe", os.Getpid()) {
			return "a process that runs " + exe + ": " + link
		}
	}
	return ""
}
