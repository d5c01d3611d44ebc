//go:build unix

package extensions

import (
	"os"
	"os/exec"
	"syscall"
)

// inGroup makes a command the first of a process group.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the group of a process to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends the group of a process, also when the process itself has gone.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
