//go:build !unix

// Package procgroup keeps commands in process groups of their own, where there are such; here there are none, and what a
// command starts is its own business.
package procgroup

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

// Detach does nothing.
func Detach(*exec.Cmd) {}

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
