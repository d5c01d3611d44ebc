package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transport/stdio"
)

// programSignals are the signals that the program of a stub can get, and by which it can end.
var programSignals = map[string]syscall.Signal{
	"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL, "SIGPIPE": syscall.SIGPIPE,
}

// noProgram is the status of a program that no stub plays: EX_SOFTWARE of sysexits.h.
const noProgram = 70

// playProgram is the program that a scenario plays, until that ends it.
func playProgram(ctx context.Context, w *environment, url string, args, env []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	start := stdio.Start{Args: append([]string{}, args...), Directory: dir}
	for _, v := range w.environ {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(env, name) {
			if start.Env == nil {
				start.Env = map[string]string{}
			}
			start.Env[name] = value
		}
	}
	names, stop := signalNames()
	defer stop()
	relay := stdio.Relay{In: w.stdin, Out: w.verbatim, Errors: w.stderr, Signals: names}
	status, name, err := relay.Run(ctx, url, start)
	switch {
	case err != nil:
		return &exitError{noProgram, err}
	case name != "":
		return endBy(programSignals[name])
	case status != 0:
		return &exitError{code: status}
	}
	return nil
}

// signalNames returns a channel with the names of the signals that come, until stop is called.
func signalNames() (names <-chan string, stop func()) {
	came, out, done := make(chan os.Signal, 4), make(chan string), make(chan struct{})
	for name, s := range programSignals {
		if name != "SIGKILL" && name != "SIGPIPE" { // the first cannot be handled, and the second is an error of a write
			signal.Notify(came, s)
		}
	}
	go func() {
		for {
			select {
			case s := <-came:
				for name, known := range programSignals {
					if s == known {
						select {
						case out <- name:
						case <-done:
						}
					}
				}
			case <-done:
				return
			}
		}
	}()
	return out, func() { signal.Stop(came); close(done) }
}

// endBy ends this process by a signal. If the system does not do that, the process exits with the status that shells
// give to such an end.
func endBy(s syscall.Signal) error {
	signal.Reset()
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		time.Sleep(time.Second) // the signal comes before that
	}
	return &exitError{code: 128 + int(s)}
}
