//go:build !unix

// Package processgroup runs commands in process groups of their own, where the system has them. Here it has none: what a
// command starts is not tracked.
package processgroup

import (
	"os"
	"os/exec"
)

// Lead does nothing.
func Lead(*exec.Cmd) {}

// Terminate ends a process.
func Terminate(p *os.Process) { _ = p.Kill() }

// Kill ends a process.
func Kill(p *os.Process) { _ = p.Kill() }

// Separate does nothing.
func Separate(*exec.Cmd) {}

func ignoreSignals() {}

func killSessions(sessions map[int]bool) {
	for id := range sessions {
		if p, err := os.FindProcess(id); err == nil {
			_ = p.Kill()
		}
	}
}
