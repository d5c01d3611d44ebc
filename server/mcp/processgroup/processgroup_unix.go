//go:build unix

// Package processgroup runs commands in process groups of their own, so that everything they start ends with them.
package processgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Lead makes a command, before its start, the leader of a new process group.
func Lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminate sends SIGTERM to the group of a process.
func Terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// Kill kills the group of a process, even if the process itself has ended.
func Kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
