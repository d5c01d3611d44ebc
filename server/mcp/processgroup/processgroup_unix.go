//go:build unix

// Package processgroup runs commands in process groups of their own, so that what they start ends with them.
package processgroup

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
