//go:build !unix

// Package processgroup runs commands in process groups of their own on systems that have them. This system has none,
// so processes that a command starts are not tracked.
package processgroup

import (
	"os"
	"os/exec"
)

// Lead does nothing.
func Lead(*exec.Cmd) {}

// Terminate kills a process.
func Terminate(p *os.Process) { _ = p.Kill() }

// Kill kills a process.
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
