//go:build unix

package target

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// children are the processes that this package has started and not yet waited for. Any other child of this program is
// an adopted one, see AdoptOrphans.
var children = struct {
	sync.RWMutex
	pids map[int]bool
}{pids: map[int]bool{}}

// processesAlive counts the targets' processes, from their start until their groups have been killed.
var processesAlive atomic.Int32

// startChild is os.StartProcess, and adds the child to children. The lock prevents isChild from missing a new child.
func startChild(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	children.Lock()
	defer children.Unlock()
	child, err := os.StartProcess(path, argv, attr)
	if err == nil {
		children.pids[child.Pid] = true
	}
	return child, err
}

// startShell starts a shell in its own process group. Only the harness has the other end of the pipe that the shell
// reads. So the read ends when the harness ends. The shell writes to stdout, or to /dev/null when stdout is nil.
func startShell(script, argument string, stdout *os.File) (shell *os.Process, writeEnd *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if stdout == nil {
		stdout = null
	}
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer readEnd.Close()
	shell, err = startChild("/bin/sh", []string{"sh", "-c", script, "sh", argument}, &os.ProcAttr{
		Dir:   "/", // so that no other directory is kept in use
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []*os.File{readEnd, stdout, null},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		writeEnd.Close()
		return nil, nil, err
	}
	return shell, writeEnd, nil
}

// waitChild waits for a process from startChild.
func waitChild(child *os.Process) (*os.ProcessState, error) {
	state, err := child.Wait()
	children.Lock()
	defer children.Unlock()
	delete(children.pids, child.Pid)
	return state, err
}

func isChild(pid int) bool {
	children.RLock()
	defer children.RUnlock()
	return children.pids[pid]
}
