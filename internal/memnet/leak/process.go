//go:build unix

package leak

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// RunPrograms is Run for tests that start programs, such as the test binary itself. It also fails if one of them
// outlives the tests. It resets the signals that the tests ignore, because of nohup or a background shell, so that
// the programs get the default handling.
func RunPrograms(m *testing.M) int {
	for _, ignored := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(ignored) {
			signal.Notify(make(chan os.Signal, 1), ignored) // exec resets a caught signal to its default
		}
	}
	status := Run(m)
	if left := Processes(); left != "" && status == 0 {
		fmt.Fprintln(os.Stderr, "leak: the tests have left behind", left)
		return 1
	}
	return status
}

// Processes describes what the tests left running: a child process, even one that has exited but was not waited for,
// or on Linux any process that runs this test binary. It returns "" if there is none.
func Processes() string {
	if child := child(); child != "" {
		return child
	}
	return stray()
}

func child() string {
	pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	if err == syscall.ECHILD {
		return ""
	}
	return fmt.Sprintf("a child process (wait4: %d, %v)", pid, err)
}

func stray() string {
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
