//go:build unix

// Package procgroup keeps commands in process groups of their own, so that what they start ends with them.
package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Lead makes a command that has not started the first of a new group.
func Lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminate asks the group of a process to end.
func Terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// Kill ends the group of a process, also when the process itself has gone.
func Kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// Detach makes a command that has not started the first of a new group, and of a session without a terminal.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
