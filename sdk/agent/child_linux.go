package agentsdk

import "syscall"

// childAttributes have the kernel kill the child when the thread that has started it ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
